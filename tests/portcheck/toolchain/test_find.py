"""Finding the Triton of this interpreter."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from portcheck.cache import Store
from portcheck.errors import EnvironmentProblem
from portcheck.toolchain import find as module
from portcheck.toolchain.find import current, find, release_of

Install = Callable[[str], Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """`install(text)` puts a package `triton` with that __init__.py before the installed one."""

    def install(text: str) -> Path:
        package = tmp_path / "triton"
        package.mkdir()
        (package / "__init__.py").write_text(text)
        monkeypatch.delitem(sys.modules, "triton", raising=False)  # some other test may have imported the real one
        monkeypatch.syspath_prepend(tmp_path)
        current.cache_clear()
        return package

    current.cache_clear()
    yield install
    current.cache_clear()


def test_the_installed_one_is_found_without_importing_it(install: Install, store: Store) -> None:
    package = install("__version__ = '9.8.7'\nraise ImportError('this is imported')\n")

    toolchain = find(release_of("current"), store)

    assert (toolchain.release, toolchain.package) == ("9.8.7", package)
    assert (toolchain.executable, toolchain.python) == (sys.executable, platform.python_version())
    assert release_of("9.8.7") == "9.8.7"


def test_another_release_names_the_command_that_installs_it(install: Install) -> None:
    install("__version__ = '9.8.7'\n")

    with pytest.raises(EnvironmentProblem, match=r"it has 9\.8\.7.*pip install triton==3\.0\.0") as caught:
        release_of("3.0.0")
    assert caught.value.status == 3


def test_a_package_that_says_no_version_is_no_triton(install: Install) -> None:
    install("")

    with pytest.raises(EnvironmentProblem, match=f"install it with: {sys.executable} -m pip install triton"):
        release_of("current")


def test_no_triton_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "current", lambda: None)

    for name in ("current", "3.9.0"):
        with pytest.raises(EnvironmentProblem, match="pip install triton"):
            release_of(name)


def test_an_installation_that_cannot_be_read(install: Install, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    install("__version__ = '9.8.7'\n")

    def refuse(*_: object) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(module, "package_digest", refuse)

    with pytest.raises(EnvironmentProblem, match="cannot be read: Permission denied; reinstall it with"):
        find("9.8.7", store)

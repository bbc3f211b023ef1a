"""Finding the Triton of this interpreter."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from portcheck.cache import Store
from portcheck.errors import EnvironmentProblem, UsageError
from portcheck.manifest.releases import release_matches
from portcheck.toolchain import find as module
from portcheck.toolchain.find import current, find, name_of, release_of
from tests.portcheck.toolchain.conftest import MakeWheel

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


def test_another_release_is_only_named_until_it_is_needed(install: Install, home: Path) -> None:
    install("__version__ = '9.8.7'\n")

    assert release_of("3.0.0") == "3.0.0"
    assert not home.exists()


def test_a_release_that_is_too_old_is_refused(install: Install) -> None:
    install("__version__ = '2.1.0'\n")

    for name in ("2.1.0", "current"):
        with pytest.raises(EnvironmentProblem, match=r"Triton 2\.1\.0 is too old: portcheck compiles with 3\.0\.0"):
            release_of(name)


@pytest.mark.usefixtures("unpack")
def test_another_release_gets_an_environment(install: Install, home: Path, store: Store, make_wheel: MakeWheel) -> None:
    install("__version__ = '9.8.7'\n")
    make_wheel("4.5.6")
    said: list[str] = []

    toolchain = find(release_of("4.5.6"), store, said.append)

    assert toolchain.release == "4.5.6"
    assert toolchain.package.is_relative_to(home / "envs")
    assert toolchain.executable == str(
        home / "envs" / toolchain.package.relative_to(home / "envs").parts[0] / "bin" / "python"
    )
    assert toolchain.path and str(toolchain.package.parent) in toolchain.path
    assert len(said) == 1 and "creating the environment of Triton 4.5.6" in said[0]
    assert find("4.5.6", store, said.append) == toolchain
    assert len(said) == 1


@pytest.mark.usefixtures("home", "unpack")
def test_the_same_content_is_the_same_toolchain(install: Install, store: Store, make_wheel: MakeWheel) -> None:
    wheel = make_wheel("9.8.7")
    package = install("__version__ = '9.8.7'\n")
    (package / "_C").mkdir()
    (package / "_C" / "libtriton.so").write_text("the compiler")

    labels = [release_of("9.8.7"), release_of(str(wheel))]

    assert labels[0] == "9.8.7"
    assert labels[1].startswith("9.8.7+")
    assert release_matches("==9.8.7", labels[1])
    assert len({find(label, store).digest for label in labels}) == 1
    assert release_of(str(wheel)) == labels[1]


@pytest.mark.usefixtures("home", "unpack")
def test_a_path_goes_by_the_version_found_there(install: Install, store: Store, make_wheel: MakeWheel) -> None:
    install("__version__ = '9.8.7'\n")
    wheel = make_wheel("4.5.6")
    release_of(str(wheel))
    venv = Path(find("4.5.6", store).executable).parent.parent

    assert release_of(str(wheel)) == "4.5.6"
    assert release_of(str(venv)) == f"4.5.6+{venv.name.replace('-', '.')}"
    assert find(release_of(str(venv)), store).package == find("4.5.6", store).package


@pytest.mark.usefixtures("home")
def test_a_version_that_a_path_goes_by_is_not_another_one(install: Install, make_wheel: MakeWheel) -> None:
    install("__version__ = '9.8.7'\n")
    release_of(str(make_wheel("4.5.6")))

    with pytest.raises(UsageError, match=r"4\.5\.6 is already what .* is called"):
        release_of("4.5.6")
    assert release_of(name_of("4.5.6")) == "4.5.6"
    assert name_of("9.8.7") == "9.8.7"


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("nowhere", "neither a wheel nor a virtual environment"),
        ("empty", "no virtual environment: it has no bin/python"),
        ("triton.whl", "not the name of a wheel"),
        ("triton-1.0-py3-none-any.whl", "No such file"),
        (sys.base_prefix, "has no Triton: install it there"),
    ],
)
def test_a_path_that_leads_to_no_triton_is_the_users_mistake(path: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()

    with pytest.raises(UsageError, match=said):
        release_of(str(tmp_path / path))


def test_a_package_that_says_no_version_is_no_triton(install: Install) -> None:
    install("")

    with pytest.raises(EnvironmentProblem, match=f"install it with: {sys.executable} -m pip install triton"):
        release_of("current")


def test_no_triton_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "current", lambda: None)

    with pytest.raises(EnvironmentProblem, match="pip install triton"):
        release_of("current")


def test_an_installation_that_cannot_be_read(install: Install, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    install("__version__ = '9.8.7'\n")

    def refuse(*_: object) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(module, "package_digest", refuse)

    with pytest.raises(EnvironmentProblem, match="cannot be read: Permission denied; reinstall it with"):
        find("9.8.7", store)

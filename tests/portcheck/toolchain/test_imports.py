"""Where children find modules, as the tool has to know it."""

from __future__ import annotations

import os
import sys
from importlib.machinery import PathFinder
from pathlib import Path

import pytest

from portcheck.toolchain import imports
from portcheck.toolchain.model import Toolchain

OWN = ("/py/python311.zip", "/py/python3.11", "/env/lib/python3.11/site-packages", "/src/editable")


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> Toolchain:
    """A toolchain in an environment; the invoking interpreter has `/user/site-packages` and what that adds."""
    path = ["/tool", "/named", *(entry for entry in sys.path if "python" in Path(entry).name), "/user/site-packages"]
    monkeypatch.setattr(sys, "path", [*path, "/user/editable"])
    monkeypatch.setattr(imports, "_site_folders", lambda: ("/user/site-packages",))
    monkeypatch.setenv("PYTHONPATH", f"/named{os.pathsep}near")
    return Toolchain("3.8.0", "3.11.7", "0", "/env/bin/python", Path("/env/triton"), OWN)


def test_an_environment_comes_before_what_it_inherits(environment: Toolchain) -> None:
    found = imports.of(environment, Path("/project"), inherit_site=True)

    assert found.path == ("/named", "/project/near", *OWN, "/user/site-packages", "/user/editable")
    assert found.inherited == ("/user/site-packages",)
    assert found.site == ["/env/lib/python3.11/site-packages", "/user/site-packages"]
    assert found.library == ("/py/python311.zip", "/py/python3.11")
    assert set(sys.meta_path) <= set(found.finders)


def test_without_inheriting_it_has_its_own_and_pythonpath(environment: Toolchain) -> None:
    found = imports.of(environment, Path("/project"), inherit_site=False)

    assert found.path == ("/named", "/project/near", *OWN)
    assert found.inherited == ()
    assert found.finders[-1] is PathFinder


def test_the_invoking_interpreter_needs_nothing_from_elsewhere(environment: Toolchain) -> None:
    this = Toolchain("3.9.0", "3.11.7", "0", sys.executable, Path("/triton"))

    found = imports.of(this, Path("/project"), inherit_site=False)

    assert found.path == tuple(entry for entry in sys.path if entry != str(Path(sys.argv[0]).parent))
    assert (found.inherited, found.library) == ((), ())

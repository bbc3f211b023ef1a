"""Another revision's files in a temporary folder, with nothing left behind."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from portcheck.checkout import checkout
from portcheck.errors import EnvironmentProblem, UsageError
from tests.repository import commit, git

Git = Callable[..., str]


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a commit `one`, in which kernels/a.py says 1, and a second one, in which it says 2."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    for name, value in {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}.items():
        monkeypatch.setenv(name, value)
    folder = tmp_path / "repository"
    (folder / "kernels").mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    (folder / "kernels/a.py").write_text("VALUE = 1\n")
    (folder / "kernels/link.py").symlink_to("a.py")
    commit(folder)
    git(folder, "tag", "one")
    (folder / "kernels/a.py").write_text("VALUE = 2\n")
    (folder / "kernels/late.toml").touch()
    commit(folder)
    return folder


def test_the_files_are_those_of_the_revision(repository: Path) -> None:
    with checkout(repository / "kernels", "one") as tree:
        assert (tree.root / "kernels/a.py").read_text() == "VALUE = 1\n"
        assert (tree.root / "kernels/link.py").read_text() == "VALUE = 1\n"
        assert not (tree.root / "kernels/late.toml").exists()
        assert tree.counterpart(repository / "kernels/a.py") == tree.root / "kernels/a.py"
        assert str(tree) == f"one ({tree.commit[:10]})"
        assert tree.origin == repository.resolve()


def test_neither_files_nor_anything_in_the_repository_are_left(repository: Path, tmp_path: Path) -> None:
    before = git(repository, "status", "--porcelain=v2", "--branch"), sorted((repository / ".git").rglob("*"))

    with checkout(repository, "one"):
        assert list((tmp_path / "scratch").iterdir())
        assert len(git(repository, "worktree", "list").splitlines()) == 1
    with pytest.raises(KeyboardInterrupt), checkout(repository, "one"):
        raise KeyboardInterrupt

    assert not list((tmp_path / "scratch").iterdir())
    assert (git(repository, "status", "--porcelain=v2", "--branch"), sorted((repository / ".git").rglob("*"))) == before


def test_changes_that_are_not_committed_stay_as_they_are(repository: Path) -> None:
    (repository / "kernels/a.py").write_text("VALUE = 3\n")

    with checkout(repository, "HEAD") as tree:
        assert (tree.root / "kernels/a.py").read_text() == "VALUE = 2\n"

    assert (repository / "kernels/a.py").read_text() == "VALUE = 3\n"


@pytest.mark.parametrize("revision", ["nowhere", "one:kernels", "-h", "--all", "", "one..main"])
def test_what_is_no_revision_is_the_user_s_mistake(repository: Path, revision: str) -> None:
    with pytest.raises(UsageError, match=f'no revision "{revision}"'), checkout(repository, revision):
        pass


def test_a_folder_in_no_repository_is_the_user_s_mistake(repository: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is in no git repository"), checkout(tmp_path, "one"):
        pass
    with pytest.raises(UsageError, match="is in no git repository"), checkout(repository / ".git", "one"):
        pass
    with pytest.raises(UsageError, match="there is no folder"), checkout(tmp_path / "missing", "one"):
        pass


def test_without_git_the_machine_is_at_fault(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")

    with pytest.raises(EnvironmentProblem, match="install git"), checkout(repository, "one"):
        pass


def test_a_file_that_came_later_is_not_there(repository: Path) -> None:
    with checkout(repository, "one") as tree, pytest.raises(UsageError, match=r"no kernels/late.toml at revision one"):
        tree.counterpart(repository / "kernels/late.toml")


def test_what_git_tells_its_hooks_is_not_taken_for_our_own(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", ".git")
    monkeypatch.setenv("GIT_INDEX_FILE", str(repository / ".git/index"))

    with checkout(repository / "kernels", "one") as tree:
        assert (tree.root / "kernels/a.py").exists()


def test_packages_of_the_present_tree_are_imported_from_the_revision(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(repository))
    monkeypatch.setenv("PYTHONPATH", "before")
    ask = "import sys, importlib; print(importlib.import_module('kernels.a').VALUE)"

    with checkout(repository, "one") as tree, tree.imported_first():
        assert (tree.scratch / "first/kernels").resolve() == tree.root / "kernels"
        assert os.environ["PYTHONPATH"] == f"{tree.scratch / 'first'}{os.pathsep}before"
        told = subprocess.run([sys.executable, "-c", ask], cwd="/", check=True, capture_output=True, text=True).stdout

    assert told == "1\n"
    assert os.environ["PYTHONPATH"] == "before"
    assert str(tree.scratch / "first") not in sys.path
    importlib.invalidate_caches()


def test_environments_that_inherit_nothing_find_no_more_in_a_revision_than_in_the_present_tree(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(repository))
    monkeypatch.setenv("PYTHONPATH", "elsewhere")

    with checkout(repository, "one") as tree, tree.imported_first(inherit_site=False):
        assert list((tree.scratch / "first").iterdir()) == []
    monkeypatch.setenv("PYTHONPATH", str(repository))
    with checkout(repository, "one") as tree, tree.imported_first(inherit_site=False):
        assert [link.name for link in (tree.scratch / "first").iterdir()] == ["kernels"]


def test_a_finder_of_an_editable_install_is_understood(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class _Finder:
        """As setuptools makes one for an editable install."""

    module = type(sys)("__editable___some_finder")
    module.MAPPING = {  # type: ignore[attr-defined]
        "package": str(repository / "kernels"),
        "module": str(repository / "kernels/a"),  # without its suffix
        "package.inner": "…",
        "elsewhere": "/opt/elsewhere",
    }
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(_Finder, "__module__", module.__name__)
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, _Finder])

    with checkout(repository, "one") as tree, tree.imported_first():
        links = {link.name: link.readlink() for link in (tree.scratch / "first").iterdir()}
        assert links == {"package": tree.root / "kernels", "module.py": tree.root / "kernels/a.py"}


def test_a_path_in_the_revision_stands_for_one_in_the_present_tree(repository: Path) -> None:
    with checkout(repository, "one") as tree:
        assert tree.original(str(tree.root / "kernels/venv")) == str(repository.resolve() / "kernels/venv")
        assert tree.original("3.9.0") == "3.9.0"
        assert tree.original("/opt/venv") == "/opt/venv"


def test_files_of_the_present_tree_are_told_from_others(repository: Path, tmp_path: Path) -> None:
    installed = repository / "venv/lib/python3.11/site-packages/torch/__init__.py"
    with checkout(repository, "one") as tree:
        read = [repository / "kernels/a.py", tree.root / "kernels/a.py", installed, tmp_path / "data.json"]

        assert tree.outside(map(str, read)) == {str((repository / "kernels/a.py").resolve())}

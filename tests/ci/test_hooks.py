"""The pre-commit hook, run by the real pre-commit with the real Triton."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.acceptance.test_doit import FILES
from tests.conftest import Project

ROOT = Path(__file__).parent.parent.parent
HOOKS = ROOT / ".pre-commit-hooks.yaml"
GREEN = FILES["portcheck.toml"].replace('name = "tgamma"', 'name = "tgamma"\n        skip = ["hip:*"]')


@pytest.fixture(scope="module")
def repository(make_project: Callable[[], Project]) -> Project:
    """A repository with green kernels, a configuration of pre-commit, and everything compiled."""
    project = make_project()
    hooks = project.cache.with_name("hooks")
    hooks.mkdir()
    shutil.copy(HOOKS, hooks)
    revision = commit(hooks, project)
    config = f"repos:\n- repo: {hooks}\n  rev: {revision}\n  hooks:\n  - id: portcheck\n"
    files = {".pre-commit-config.yaml": config, ".gitignore": "__pycache__/\n", "notes.md": ""}
    project.write({**FILES, **files, "portcheck.toml": GREEN})
    project.env = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PRE_COMMIT_HOME": str(project.cache.with_name("pre-commit")),
    }
    commit(project.folder, project)
    assert hook(project, "--all-files").returncode == 0
    return project


def git(folder: Path, project: Project, *arguments: str) -> str:
    """Run git, as nobody in particular."""
    who = [part for key in ("name", "email") for part in ("-c", f"user.{key}=x")]
    command = ["git", *who, "-c", "core.hooksPath=", *arguments]
    ran = subprocess.run(command, cwd=folder, env=project.environment(), capture_output=True, text=True, check=True)
    return ran.stdout.strip()


def commit(folder: Path, project: Project) -> str:
    """Make a folder a repository with all that is in it; returns the revision."""
    git(folder, project, "init", "-q")
    git(folder, project, "add", "-A")
    git(folder, project, "commit", "-q", "-m", "first")
    return git(folder, project, "rev-parse", "HEAD")


def hook(project: Project, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pre-commit on what is staged, or as the arguments say."""
    return subprocess.run(
        [sys.executable, "-m", "pre_commit", "run", *arguments],
        cwd=project.folder,
        env=project.environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def staged(project: Project, name: str, old: str, new: str) -> None:
    """Stage an edit; everything else is as it was committed."""
    git(project.folder, project, "reset", "-q", "--hard")
    path = project.folder / name
    path.write_text(textwrap.dedent(path.read_text().replace(old, new)) + ("" if old else new))
    git(project.folder, project, "add", "-A")


def test_the_hooks_file_is_valid() -> None:
    command = [sys.executable, "-m", "pre_commit", "validate-manifest", str(HOOKS)]

    assert subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_a_good_change_may_be_committed(repository: Project) -> None:
    staged(repository, "kernels.py", "tl.load(x)", "tl.load(x) + 1")

    ran = hook(repository)

    assert ran.returncode == 0, ran.stdout
    assert "Passed" in ran.stdout


def test_a_broken_kernel_may_not(repository: Project) -> None:
    staged(repository, "kernels.py", "tl.store(y, tl.load(x))", "tl.store(y, tl.laod(x))")

    ran = hook(repository)

    assert ran.returncode == 1
    assert "- exit code: 1" in ran.stdout
    assert "module 'triton.language' has no attribute 'laod'" in ran.stdout


def test_only_python_and_toml_make_it_run(repository: Project) -> None:
    staged(repository, "notes.md", "", "more")

    ran = hook(repository)

    assert ran.returncode == 0
    assert "(no files to check)" in ran.stdout


def test_it_may_be_told_to_check_only_what_the_commit_changes(repository: Project) -> None:
    staged(repository, "portcheck.toml", 'skip = ["hip:*"]', "")  # tgamma fails on hip, and nobody touched its kernel
    git(repository.folder, repository, "commit", "-q", "-n", "-m", "second")
    config = (
        repository.folder / ".pre-commit-config.yaml"
    ).read_text() + "    args: [--since, HEAD]\n    verbose: true\n"
    staged(repository, "kernels.py", "tl.store(y, tl.load(x))", "tl.store(y, tl.load(x) + 2)")
    (repository.folder / "config.yaml").write_text(f"{config}    args: [--since, HEAD]\n    verbose: true\n")

    everything, changed = hook(repository), hook(repository, "-c", "config.yaml")

    assert everything.returncode == 1
    assert changed.returncode == 0, changed.stdout
    assert "4 cells: 4 ok" in changed.stdout

"""The README is true: its files are written, its commands run, and what it shows is what they print.

The two opening commands install things, so here they are only compared with what CI runs; .ci/run runs them.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
SHOWN = [body for language, body in BLOCKS if language == "text"]
DEMO, TESTS, *LATER = [line for language, body in BLOCKS if language == "sh" for line in body.splitlines()]

# What a reader does after the installation, in order, and the status that the README gives for it.
STATUSES = {
    "portcheck check mine/portcheck.toml": 1,
    "portcheck check mine/portcheck.toml -k 'gelu[portable]'": 0,
    "portcheck check mine/portcheck.toml -t 'cuda:*'": 0,
    "portcheck check mine/portcheck.toml -t cuda:75,hip:gfx1100": 1,
    "portcheck check mine/portcheck.toml --dry-run": 0,
    "portcheck check mine/portcheck.toml --static only": 1,
    "portcheck check mine/portcheck.toml --json report.json --save-ir ir": 1,
    "portcheck check mine/portcheck.toml --html report.html": 1,
    "doit -f mine/dodo.py": 1,
    "doit -f mine/dodo.py portcheck targets=cuda:80,cuda:90 kernels='gelu*'": 0,
    "doit -f mine/dodo.py 'compile:gelu*@hip:*'": 1,
    "doit -f mine/dodo.py list --all": 0,
    "portcheck explain 'gelu[fast]@hip:gfx942' mine/portcheck.toml": 0,
    "portcheck check mine/portcheck.toml -v": 1,
    "portcheck diff report.json --targets cuda:80 hip:gfx942": 1,
    'PORTCHECK_CACHE=mine/cache portcheck check mine/portcheck.toml --remote "file://$PWD/shared"': 1,
    'PORTCHECK_CACHE=theirs/cache portcheck check mine/portcheck.toml --remote "file://$PWD/shared"': 1,
    "portcheck cache path": 0,
    "portcheck cache stats": 0,
    "portcheck cache verify": 0,
    "portcheck cache gc --max-size 2GiB": 0,
}

Shell = Callable[[str], subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the README's files are."""
    folder = tmp_path_factory.mktemp("reader")
    for _, body in BLOCKS:
        first, _, rest = body.partition("\n")
        if named := re.fullmatch(r"# (mine/\S+)", first):
            (folder / named[1]).parent.mkdir(exist_ok=True)
            (folder / named[1]).write_text(rest)
    return folder


@pytest.fixture(scope="module")
def shell(folder: Path) -> Shell:
    """Runs a command in that folder, with the environment of this interpreter active."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("TRITON_", "DOIT_"))}
    environment = {**plain, "PATH": path, "PORTCHECK_CACHE": str(folder / "cache")}

    def run(command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return run


def missing(shown: str, printed: str) -> list[str]:
    """Lines of `shown` that `printed` does not have, in that order; … stands for lines left out, and times differ."""
    lines = iter([_timeless(line) for line in printed.splitlines()])
    return [line for line in shown.splitlines() if line.strip("… ") and _timeless(line) not in lines]


def _timeless(line: str) -> str:
    line = re.sub(r"slowest compile .*?\)", "slowest compile", line)
    return re.sub(r"\d+\.\d+ s\b|Python [\d.]+", "*", line)


def test_ci_runs_the_opening_commands_word_for_word() -> None:
    script = [line.strip() for line in (ROOT / ".ci/run").read_text().splitlines()]
    assert DEMO in script
    assert TESTS in script
    assert os.access(ROOT / ".ci/run", os.X_OK)


def test_the_demo_prints_the_matrix_shown(shell: Shell) -> None:
    install, command = DEMO.split(" && .venv/bin/portcheck ")
    ran = shell(f"portcheck {command}")
    assert "triton==3.9.0" in install
    assert missing(SHOWN[0], ran.stdout) == [], ran.stdout + ran.stderr
    assert ran.returncode == 1
    again = shell(f"portcheck {command}")
    assert "81 cached" in again.stdout.splitlines()[-3]


def test_every_command_is_run_here() -> None:
    assert list(STATUSES) == LATER


def test_the_commands_do_what_the_readme_says(shell: Shell, folder: Path) -> None:
    ran = {command: shell(command) for command in STATUSES}
    told = "\n".join(f"$ {command}\n{done.stdout}{done.stderr}" for command, done in ran.items())
    assert {command: done.returncode for command, done in ran.items()} == STATUSES, told
    assert missing(SHOWN[1], ran["portcheck check mine/portcheck.toml"].stdout) == [], told
    assert missing("\n".join(SHOWN[1].splitlines()[:3]), ran["doit -f mine/dodo.py"].stdout) == [], told
    mine, theirs = (done.stdout for command, done in ran.items() if "--remote" in command)
    assert "· 6 compiled ·" in mine and "· 6 remote ·" in theirs, told
    assert (folder / "report.json").exists()
    assert (folder / "ir/gelu[fast]@cuda:90@3.9.0/ptx").exists()


@pytest.mark.parametrize(("remedy", "shown"), [('skip = ["hip:*"]', "-"), ('xfail = ["hip:*"]', "xfail")])
def test_the_remedies_for_the_red_cell_make_the_run_pass(shell: Shell, folder: Path, remedy: str, shown: str) -> None:
    manifest = (folder / "mine/portcheck.toml").read_text()
    (folder / "mine/remedy.toml").write_text(manifest.replace('name = "fast"', f'name = "fast"\n{remedy}'))
    ran = shell("portcheck check mine/remedy.toml")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert f"gelu[fast]      ok       ok       {shown}\n" in ran.stdout


# What is edited in the README's kernel → where the verdicts of the six cells then come from. The red cell's locations
# have the names of variables in them, so it is compiled.
EDITS = {
    "a comment": ("    if FAST:", "    # fast or portable\n    if FAST:", "6 cached"),
    "a local's name": ("inner", "argument", "1 compiled, 5 cutoff"),
    "the kernel": ("0.5 * x", "0.25 * x", "6 compiled"),
}


@pytest.mark.parametrize("what", EDITS)
def test_what_is_compiled_again_is_what_the_readme_says(shell: Shell, folder: Path, what: str) -> None:
    old, new, origins = EDITS[what]
    path = folder / "mine/kernels.py"
    before = path.read_text()
    assert old in before
    shell("portcheck check mine/portcheck.toml")

    path.write_text(before.replace(old, new))
    ran = shell("portcheck check mine/portcheck.toml")
    path.write_text(before)

    assert f"· {origins} ·" in ran.stdout, ran.stdout + ran.stderr

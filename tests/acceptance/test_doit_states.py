"""What doit says of our tasks: which are up to date, which files are written again, and how a run ends."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.acceptance.test_doit import FILES

if TYPE_CHECKING:
    from tests.conftest import Project

DODO = """
    from portcheck.rules import DOIT_CONFIG, portcheck_suite
    globals().update(portcheck_suite(json="report.json", baseline="baseline.toml"))
"""


@pytest.fixture
def suite(project: Project) -> Project:
    """Three rows on two targets, one cell red, and a cache that has them all."""
    project.write({**FILES, "dodo.py": DODO})
    assert project.check().status == 1
    (project.folder / "report.json").unlink()
    return project


def states(project: Project) -> dict[str, str]:
    """Task, with its kind only → R (it would run) or U (up to date); a kind whose tasks differ has both."""
    _, out, _ = project.doit("list", "--all", "-s")
    found: dict[str, set[str]] = {}
    for line in out.splitlines():
        state, name = line.split()[:2]
        found.setdefault(name.partition(":")[0], set()).add(state)
    return {name: "".join(sorted(of)) for name, of in found.items()}


def test_states_follow_what_is_known(suite: Project) -> None:
    judged = {"toolchain": "U", "resolve": "U", "compile": "U", "audit": "U", "diff": "R", "portcheck": "R"}
    judged |= {"junit": "U", "sarif": "U", "markdown": "U", "html": "U"}  # nobody asked for them
    assert states(suite) == {**judged, "report": "R", "baseline": "R"}

    suite.doit("report")
    suite.doit("baseline")
    assert states(suite) == {**judged, "report": "R", "baseline": "U"}  # the report does not show the baseline yet
    suite.doit("report")
    assert states(suite) == {**judged, "report": "U", "baseline": "U"}

    suite.write({"kernels.py": FILES["kernels.py"] + "\n# changed\n"})
    assert states(suite) == {**judged, "resolve": "R", "compile": "R", "report": "R", "baseline": "R"}


def test_states_of_single_cells(suite: Project) -> None:
    suite.write({"portcheck.toml": FILES["portcheck.toml"].replace("*fp16", "*bf16")})

    _, out, _ = suite.doit("list", "--all", "-s")
    run = [line.split()[1].rpartition("@")[0] for line in out.splitlines() if line.startswith("R compile")]

    assert run == ["", "compile:copy[fp16]@cuda:90", "compile:copy[fp16]@hip:gfx942"]  # the group has no @


def test_a_report_is_written_again_only_if_it_would_show_something_else(suite: Project) -> None:
    report = suite.folder / "report.json"
    unchanged = "portcheck: report.json: unchanged, not written again\n"

    _, _, first = suite.doit("report")
    written = report.stat().st_mtime_ns
    status, out, second = suite.doit("report")

    assert unchanged not in first
    assert unchanged in second
    assert report.stat().st_mtime_ns == written
    assert status == 1
    assert "1 failed (1 new)" in out

    report.write_text("edited")
    suite.doit("report")
    assert report.read_text().startswith("{")

    report.unlink()
    suite.doit()
    assert report.exists()

    suite.doit("report", "targets=cuda:90")
    assert "gfx942" not in report.read_text()


def test_a_baseline_is_frozen_and_holds(suite: Project) -> None:
    status, out, _ = suite.doit("baseline")
    assert (status, out) == (0, "baseline.toml: 1 known failure (1 added)\n")

    status, out, _ = suite.doit()
    assert status == 0
    assert "1 failed (1 known)" in out

    status, _, err = suite.doit("baseline")
    assert status == 0
    assert "portcheck: baseline.toml: unchanged, not written again\n" in err

    suite.write({"kernels.py": FILES["kernels.py"].replace("libdevice.tgamma(tl.load(x))", "tl.load(x)")})
    status, out, _ = suite.doit("baseline", "-o", "baseline.toml", "--prune")
    assert (status, out) == (0, "baseline.toml: 0 known failures (1 taken out)\n")


def test_a_baseline_without_a_file_is_an_error(suite: Project) -> None:
    suite.write({"dodo.py": FILES["dodo.py"]})

    status, out, err = suite.doit("baseline")

    assert (status, out) == (2, "")
    assert err == "portcheck: name the file of the baseline: -o FILE, or portcheck_suite(baseline=…) in the dodo.py\n"


def test_a_broken_baseline_spoils_no_other_task(suite: Project) -> None:
    suite.write(
        {
            "baseline.toml": "<<<<<<< ours\n",
            "dodo.py": FILES["dodo.py"].replace("suite()", 'suite(baseline="baseline.toml")'),
        }
    )

    status, _, err = suite.doit("portcheck")

    assert status == 2
    assert err.startswith("portcheck: baseline.toml: is no baseline: ")
    assert suite.doit("hello")[0] == 0


@pytest.mark.parametrize("task", [["diff", "--old", "3.8.0", "--new", "3.9.0"], ["baseline", "-o", "baseline.toml"]])
def test_what_is_wrong_with_a_manifest_is_told_whatever_the_task_takes(suite: Project, task: list[str]) -> None:
    suite.write({"portcheck.toml": "targets = 3\n"})

    status, _, err = suite.doit(*task)

    assert status == 2
    assert err.startswith("portcheck: portcheck.toml: ")


@pytest.mark.parametrize("task", ["compile", "report", "compile:*", "compile:tgamma@hip:*", "portcheck"])
def test_new_failures_are_1_whatever_was_asked_for(suite: Project, task: str) -> None:
    status, out, _ = suite.doit(task)

    assert status == 1
    assert out.count("1 failed (1 new)") == 1


@pytest.mark.parametrize("task", ["resolve", "toolchain", "compile:copy*"])
def test_what_shows_no_failure_is_0(suite: Project, task: str) -> None:
    assert suite.doit(task)[0] == 0


@pytest.fixture
def full() -> Iterator[int]:
    """A descriptor on a full disk."""
    descriptor = os.open("/dev/full", os.O_WRONLY)
    yield descriptor
    os.close(descriptor)


@pytest.mark.parametrize("task", ["compile:copy@*", "report", "portcheck"])
def test_a_matrix_that_cannot_be_written_is_an_error(suite: Project, full: int, task: str) -> None:
    ended = subprocess.run(
        [suite.python, "-m", "doit", task],
        cwd=suite.folder,
        env=suite.environment(),
        stdout=full,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )

    assert ended.returncode == 2
    assert "portcheck: cannot write to standard output: No space left on device\n" in ended.stderr

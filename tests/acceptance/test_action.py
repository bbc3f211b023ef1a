"""The steps of action.yml, run in order with the real Triton; other people's actions are played by tests.composite."""

from __future__ import annotations

import json
import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from portcheck.report.formats import FORMATS
from tests.acceptance.test_doit import FILES
from tests.acceptance.test_interruption import ENDLESS, MANIFEST, QUICK
from tests.composite import ACTION, FORK, PULL, PUSH, TARGET, Event, Job, Workplace
from tests.conftest import Project

CHECK = next(step for step in ACTION["runs"]["steps"] if step.get("id") == "check")
ARTIFACT = "actions/upload-artifact"
SAVE = "actions/cache/save"

Make = Callable[[], Workplace]


@pytest.fixture(scope="module")
def make(make_project: Callable[[], Project]) -> Make:
    """Makes checkouts of a repository with three rows on two targets, one cell red, and a remote."""

    def make() -> Workplace:
        project = make_project()
        remote = f'[cache]\nremote = "file://{project.folder}/shared"\n'
        project.write(
            {**FILES, "portcheck.toml": remote + FILES["portcheck.toml"].replace("    ", ""), ".git/HEAD": ""}
        )
        return Workplace(project.folder, project.cache.with_name("runner"), sys.executable)

    return make


@pytest.fixture(scope="module")
def checked(make: Make) -> Workplace:
    """A repository whose default branch was checked, so that there is a saved cache and a remote with all verdicts."""
    place = make()
    place.run()
    return place


def zones(place: Workplace) -> dict[str, int]:
    """The zones of the remote, and how many files are in each."""
    folders = (place.folder / "shared").glob("*")
    return {folder.name: sum(path.is_file() for path in folder.rglob("*")) for folder in folders}


def report(place: Workplace) -> Any:
    """The JSON report that the action left behind."""
    return json.loads((place.folder / "portcheck-reports/report.json").read_text())


def test_a_failing_check_fails_the_job_and_leaves_everything_behind(make: Make) -> None:
    place = make()

    ran = place.run()

    folder = place.folder / "portcheck-reports"
    files = {form.name: str(folder / form.example) for form in FORMATS}
    assert ran.failed
    assert {name: ran.outputs[name] for name in ("status", "cells", "failed", "new")} == {
        "status": "1",
        "cells": "6",
        "failed": "1",
        "new": "1",
    }
    assert {name: ran.outputs[name] for name in files} == files
    assert all(Path(file).stat().st_size for file in files.values())
    assert dict(ran.used[ARTIFACT]) == {"name": "portcheck", "path": "\n".join(files.values())}
    assert re.search(r"^::error file=kernels\.py,line=\d+", ran.log, re.MULTILINE)
    assert "tgamma" in ran.summary
    assert list(place.caches) == [ran.used[SAVE]["key"]]


def test_what_did_not_change_comes_from_the_cache_which_is_not_saved_again(checked: Workplace) -> None:
    ran = checked.run()

    assert report(checked)["summary"]["cached"] == 6
    assert ran.outputs["status"] == "1"
    assert SAVE not in ran.used


def test_a_baseline_makes_known_failures_pass(checked: Workplace) -> None:
    fingerprint = report(checked)["failures"][0]["fingerprint"]
    (cell,) = report(checked)["failures"][0]["cells"]
    entry = f'fingerprint = "{fingerprint}", verdict = "frontend-error", stage = "frontend", message = ""'
    known = f'schema = "portcheck-baseline/1"\n[cells]\n"{cell}" = {{ {entry} }}\n'
    (checked.folder / "baseline.toml").write_text(known)

    ran = checked.run(baseline="baseline.toml")

    assert not ran.failed, ran.log
    assert [ran.outputs[name] for name in ("status", "cells", "failed", "new")] == ["0", "6", "1", "0"]
    assert ARTIFACT in ran.used


def test_selections_reach_the_command_and_name_the_artifact(checked: Workplace) -> None:
    ran = checked.run(targets="cuda:90,\nhip:gfx942\n", kernels="copy\ncopy[*]\n", args="-v", cache="read")

    assert sorted({cell["kernel"] for cell in report(checked)["cells"]}) == ["copy"]
    assert (ran.failed, ran.outputs["cells"]) == (False, "4")
    assert ran.used[ARTIFACT]["name"] == "portcheck-cuda-90-hip-gfx942-copy-copy"


@pytest.mark.parametrize(
    ("event", "saves", "zone"),
    [
        (PUSH, True, "main"),
        (PULL, True, "pr"),
        (FORK, False, None),
        (TARGET, False, None),
    ],
)
def test_who_may_write_what(make: Make, event: Event, saves: bool, zone: str | None) -> None:
    place = make()

    ran = place.run(event, kernels="copy", targets="cuda:90")

    assert ran.outputs["status"] == "0", ran.log
    assert (SAVE in ran.used, bool(place.caches)) == (saves, saves)
    assert list(zones(place)) == ([zone] if zone else [])


def test_a_fork_reads_what_the_default_branch_made_and_adds_nothing(make: Make) -> None:
    place = make()
    place.run(targets="cuda:90")
    saved, before = set(place.caches), zones(place)
    kernels = place.folder / "kernels.py"
    kernels.write_text(kernels.read_text().replace("tl.store(y, tl.load(x))", "tl.store(y, tl.load(x) + 1)"))

    ran = place.run(FORK, targets="cuda:90")

    assert {cell["cell"].split("@")[0]: cell["from"] for cell in report(place)["cells"]} == {
        "copy": "compiled",
        "copy[fp16]": "compiled",
        "tgamma": "cached",
    }
    assert ran.outputs["status"] == "0"
    assert (set(place.caches), zones(place)) == (saved, before)


def test_a_job_may_forbid_the_cache(make: Make) -> None:
    ran = make().run(cache="false", kernels="copy", targets="cuda:90")

    assert ran.outputs["status"] == "0"
    assert set(ran.used) == {ARTIFACT}


@pytest.mark.parametrize(
    ("inputs", "status", "told"),
    [
        ({"targets": "cuda:80; touch x"}, "2", 'portcheck: malformed target "cuda:80; touch x"'),
        ({"targets": "$(touch x)"}, "2", "portcheck: "),
        ({"kernels": "`touch x`"}, "2", "portcheck: "),
        ({"targets": "--help\n"}, "2", "portcheck: "),
        ({"manifest": "--help"}, "2", "portcheck: "),
        ({"manifest": "nowhere.toml"}, "2", "nowhere.toml: cannot read the manifest"),
        ({"baseline": "nowhere.toml\ncells=99"}, "2", "portcheck: "),
        ({"args": "'"}, "", "::error title=portcheck::args: No closing quotation in"),
        ({"args": "; touch x"}, "2", "portcheck: "),
        ({"cache": "yes"}, "", '::error title=portcheck::cache: "yes": write one of true, read, false'),
        ({"reports": "kernels.py/reports"}, "", "::error title=portcheck::reports: kernels.py/reports: "),
    ],
)
def test_bad_input_is_told_and_does_no_harm(checked: Workplace, inputs: dict[str, str], status: str, told: str) -> None:
    before = {path.name for path in checked.folder.iterdir()}

    ran = checked.run(**inputs)

    assert ran.failed
    assert told in ran.log, ran.log
    assert "Traceback" not in ran.log
    assert ran.outputs["status"] == status
    assert (ran.outputs["cells"], ran.outputs["json"]) == ("", "")
    assert not {ARTIFACT, SAVE} & set(ran.used)
    assert {path.name for path in checked.folder.iterdir()} == before


def test_reports_of_an_earlier_run_are_not_taken_for_those_of_a_failing_one(checked: Workplace) -> None:
    checked.run()
    assert list((checked.folder / "portcheck-reports").iterdir())

    checked.run(manifest="nowhere.toml")

    assert not list((checked.folder / "portcheck-reports").iterdir())


def test_a_cancelled_job_ends_at_once_and_says_what_it_has(
    make_project: Callable[[], Project], until: Callable[[Callable[[], Any]], None]
) -> None:
    project = make_project()
    project.write({"portcheck.toml": MANIFEST, "quick.py": QUICK, "endless.py": ENDLESS})
    place = Workplace(project.folder, project.cache.with_name("runner"), sys.executable)
    job = Job(place, PUSH, {"args": "-j2"})

    with job.start(CHECK) as process:
        until((project.folder / "running").exists)
        process.send_signal(signal.SIGINT)  # to the one process that the runner knows
        out, _ = process.communicate(timeout=60)

    assert process.returncode == 130, out
    assert project.left_behind() == []
    assert (job.outputs("check")["status"], job.outputs("check")["save"]) == ("130", "true")


def test_every_format_of_a_report_is_an_output() -> None:
    assert {form.name for form in FORMATS} <= ACTION["outputs"].keys()


def test_no_expression_is_part_of_a_script_and_other_actions_are_pinned() -> None:
    steps = ACTION["runs"]["steps"]
    assert [step["name"] for step in steps if "${{" in step.get("run", "")] == []
    assert [step["uses"] for step in steps if "uses" in step and not re.search("@[0-9a-f]{40}$", step["uses"])] == []

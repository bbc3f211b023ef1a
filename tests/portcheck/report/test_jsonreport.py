"""The JSON report, as the interface page fixes it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from portcheck import __version__
from portcheck.baseline import entry_of
from portcheck.cells import Cell
from portcheck.diagnose.signatures import advise
from portcheck.errors import UsageError
from portcheck.manifest.model import Expectation
from portcheck.report.formats import FORMATS
from portcheck.report.jsonreport import as_dict
from portcheck.report.model import MISSING, Report, build
from portcheck.toolchain.model import Toolchain
from portcheck.verdicts import Artifact, Failure, Position, Result

Judge = Callable[..., tuple[Cell, Result]]
Tool = Callable[[str], Toolchain]

write = FORMATS[0].write


@pytest.fixture
def report(judge: Judge, toolchain: Tool, tgamma: Failure) -> Report:
    judged = [
        judge(
            "gamma[big]@cuda:75@3.9.0",
            origin="cached",
            seconds=0.11,
            outcome={
                "stages": {"ttir": 0.01, "cubin": 0.05},
                "artifacts": {"cubin": Artifact("ab12", 5224)},
                "resources": {"shared": 0, "registers": 21, "num_warps": 4},
            },
            front_key="f1",
            back_key="b1",
            kernel_hash="k1",
            source=Position("kernels.py", 12, 1),
        ),
        judge("gamma[big]@hip:gfx942@3.9.0", tgamma),
        judge("late@cuda:75@3.9.0", origin="skipped"),
    ]
    return build(judged, [toolchain("3.9.0")], 7.12345, lambda cell: None)


def test_the_whole_report(report: Report) -> None:
    told = as_dict(report)

    assert list(told)[:5] == ["schema", "tool", "toolchains", "targets", "summary"]
    assert list(told)[5:] == ["limits", "cells", "failures", "missing", "baseline", "note"]
    assert told["schema"] == "portcheck-report/1"
    assert told["tool"] == {"name": "portcheck", "version": __version__}
    assert told["toolchains"] == [{"triton": "3.9.0", "python": "3.11.7", "digest": "digest-of-3.9.0"}]
    assert told["targets"] == ["cuda:75", "hip:gfx942"]
    assert told["summary"] == {
        "cells": 3,
        "ok": 1,
        "failed": 1,
        "new": 1,
        "known": 0,
        "xfail": 0,
        "xpass": 0,
        "skipped": 1,
        "compiled": 1,
        "cached": 1,
        "cutoff": 0,
        "remote": 0,
        "predicted": 0,
        "static": {"predicted": 0, "came_true": 0},
        "seconds": 7.1235,
    }
    assert told["note"].startswith("Compile-only check:")


def test_an_ok_cell(report: Report) -> None:
    assert as_dict(report)["cells"][0] == {
        "cell": "gamma[big]@cuda:75@3.9.0",
        "kernel": "gamma",
        "variant": "big",
        "target": "cuda:75",
        "triton": "3.9.0",
        "verdict": "ok",
        "stage": None,
        "fingerprint": None,
        "status": "ok",
        "warning": None,
        "expected": None,
        "baseline": None,
        "from": "cached",
        "front_key": "f1",
        "back_key": "b1",
        "kernel_hash": "k1",
        "seconds": 0.11,
        "stages": {"ttir": 0.01, "cubin": 0.05},
        "artifacts": {"cubin": {"digest": "ab12", "size": 5224}},
        "resources": {"shared": 0, "tmem": None, "registers": 21, "spills": None, "num_warps": 4, "threads": None},
        "configs": None,
        "source": {"file": "kernels.py", "line": 12, "column": 1},
    }


def test_a_failed_cell_points_to_its_failure(report: Report, tgamma: Failure) -> None:
    told = as_dict(report)
    cell, (failure,) = told["cells"][1], told["failures"]

    assert (cell["verdict"], cell["stage"], cell["status"]) == ("frontend-error", "frontend", "new")
    advice = advise(tgamma)
    assert advice is not None
    assert failure == {
        "letter": "A",
        "fingerprint": cell["fingerprint"],
        "verdict": "frontend-error",
        "stage": "frontend",
        "message": tgamma.message,
        "detail": "",
        "pass": None,
        "signature": "libdevice-on-amd",
        "title": advice.title,
        "why": advice.why,
        "do": advice.do,
        "see": "https://github.com/triton-lang/triton/issues/10375",
        "seen": ["3.2.0", "3.9.0"],
        "notes": ["gamma[big] compiles for cuda:75"],
        "cells": [cell["cell"]],
    }


def test_what_nobody_knows_about_a_failure_is_null(judge: Judge, toolchain: Tool) -> None:
    report = build(
        [judge("a@cuda:80@3.9.0", Failure("mlir-error", "ttgir", "no"))], [toolchain("3.9.0")], 1, lambda _: None
    )

    (failure,) = as_dict(report)["failures"]

    assert [failure[name] for name in ("signature", "title", "why", "do", "see", "seen")] == [None] * 6


def test_a_skipped_cell_has_no_verdict(report: Report) -> None:
    cell = as_dict(report)["cells"][2]

    assert (cell["verdict"], cell["status"], cell["from"]) == (None, None, "skipped")


def test_the_file_is_replaced_as_a_whole(report: Report, tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "report.json"
    write(report, path)
    write(report, path)

    assert json.loads(path.read_text()) == as_dict(report)
    assert [entry.name for entry in path.parent.iterdir()] == ["report.json"]


def test_a_link_stays_a_link(report: Report, tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to("real.json")

    write(report, tmp_path / "link.json")

    assert (tmp_path / "link.json").is_symlink()
    assert json.loads((tmp_path / "real.json").read_text())["schema"] == "portcheck-report/1"


def test_a_device_is_written_to_and_not_replaced(report: Report, tmp_path: Path) -> None:
    reader, writer = os.pipe()
    write_end = tmp_path / "pipe"
    write_end.symlink_to(f"/proc/self/fd/{writer}")

    write(report, write_end)

    os.close(writer)
    with os.fdopen(reader) as pipe:
        assert json.load(pipe)["schema"] == "portcheck-report/1"


def test_a_place_that_cannot_be_written_is_one_clear_error(report: Report, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(UsageError, match=r"file/report\.json: cannot write the report: Not a directory"):
        write(report, tmp_path / "file" / "report.json")


def test_why_a_cell_was_to_fail_is_in_the_report(judge: Judge, toolchain: Tool, tgamma: Failure) -> None:
    judged = [
        judge("a@hip:gfx942@3.9.0", tgamma),
        judge("b@hip:gfx942@3.9.0", tgamma),
        judge("c@hip:gfx942@3.9.0"),
        judge("d@hip:gfx942@3.9.0", origin=MISSING),
    ]
    xfail = Expectation("hip:*", "<4", "no tgamma on AMD")
    told = as_dict(
        build(
            judged,
            [toolchain("3.9.0")],
            0,
            lambda cell: xfail if cell.row.name == "a" else None,
            lambda cell: entry_of(tgamma) if cell.row.name in ("b", "c") else None,
            ["gone@hip:gfx942@3.9.0"],
        )
    )

    assert [cell["status"] for cell in told["cells"]] == ["xfail", "known", "ok", None]
    assert told["cells"][0]["expected"] == {"target": "hip:*", "triton": "<4", "reason": "no tgamma on AMD"}
    assert told["cells"][1]["baseline"]["fingerprint"] == told["cells"][1]["fingerprint"]
    assert told["missing"] == ["d@hip:gfx942@3.9.0"]
    assert told["cells"][3]["from"] == "skipped"
    assert told["baseline"] == {
        "fixed": ["c@hip:gfx942@3.9.0"],
        "covered": [],
        "stale": ["gone@hip:gfx942@3.9.0"],
    }

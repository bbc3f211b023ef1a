"""Reading reports that others wrote, cut or forged."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from portcheck.diff.snapshot import read_report
from portcheck.errors import UsageError

SOUND = (Path(__file__).parent / "reports/3.9.0.json").read_text()


def test_a_report_is_read_with_its_messages() -> None:
    report = read_report(Path(__file__).parent / "reports/3.9.0.json")
    cells = {cell.name: cell for cell in report.cells}

    assert len(cells) == 27
    failed = cells["quantize_fp8@cuda:80@3.9.0"]
    assert (failed.verdict, failed.stage, failed.ok, failed.judged) == ("frontend-error", "frontend", False, True)
    assert failed.message is not None and failed.message.startswith("type fp8e4nv not supported in this architecture")
    assert cells["dot_small[fp16]@cuda:80@3.9.0"].row == "dot_small[fp16]"
    assert cells["axpy@cuda:80@3.9.0"].artifacts["cubin"].size == 5352


def _edited(edit: Callable[[dict[str, Any]], Any]) -> str:
    data = json.loads(SOUND)
    edit(data)
    return json.dumps(data)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not a JSON report: Expecting value"),
        (SOUND[: len(SOUND) // 2], "not a JSON report"),
        ("[" * 100_000, "not a JSON report"),
        ("[]", "no report of portcheck: it has no schema"),
        ('{"schema": "portcheck-report/9"}', 'its schema is "portcheck-report/9", and this portcheck reads'),
        ('{"schema": "portcheck-diff/1"}', 'its schema is "portcheck-diff/1", and this portcheck reads'),
        ('{"schema": 7}', 'its schema is "int"'),
        ('{"schema": "portcheck-report/1"}', "failures has to be an array"),
        (_edited(lambda d: d.update(cells={})), "cells has to be an array"),
        (_edited(lambda d: d["cells"].append(3)), "cells[27]: a cell has to be an object"),
        (_edited(lambda d: d["cells"][2].pop("target")), "cells[2]: target is missing"),
        (_edited(lambda d: d["cells"][0].update(verdict=3)), "cells[0]: verdict has to be a string"),
        (_edited(lambda d: d["cells"][0].update(seconds=-1)), "cells[0]: seconds has to be a number of seconds"),
        (_edited(lambda d: d["cells"][0].update(seconds=float("nan"))), "cells[0]: seconds has to be a number"),
        (_edited(lambda d: d["cells"][0].update(seconds=True)), "cells[0]: seconds has to be a number"),
        (_edited(lambda d: d["cells"][0].update(seconds=10**400)), "cells[0]: seconds has to be a number"),
        (_edited(lambda d: d["cells"][0].update(artifacts=[])), "cells[0]: artifacts has to be an object"),
        (
            _edited(lambda d: d["cells"][0]["artifacts"]["ptx"].update(size=1.5)),
            'cells[0]: artifacts: "ptx": size has to be a whole number',
        ),
        (
            _edited(lambda d: d["cells"][0]["resources"].update(spills="many")),
            "cells[0]: resources: spills has to be a whole number",
        ),
        (_edited(lambda d: d["cells"].append(d["cells"][0])), 'cell "axpy@cuda:80@3.9.0" is there twice'),
        (_edited(lambda d: d["failures"][0].update(message=None)), "failures: message has to be a string"),
        (_edited(lambda d: d["failures"][0].update(cells=7)), "failures: cells has to be an array"),
    ],
)
def test_what_is_no_report_is_refused_in_one_line(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "report.json"
    path.write_text(text)

    with pytest.raises(UsageError) as refused:
        read_report(path)

    assert str(refused.value).startswith(f"{path}: {said}")
    assert "\n" not in str(refused.value)


def test_what_is_no_text_or_no_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00{")
    for name, said in (("binary", "not a JSON report"), (".", "cannot read"), ("missing", "cannot read")):
        with pytest.raises(UsageError, match=said):
            read_report(tmp_path / name)


def test_numbers_that_are_not_recorded_are_fine(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text(_edited(lambda d: d["cells"][0].update(resources={"spills": None})))

    assert read_report(path).cells[0].resources["spills"] is None


def test_what_a_terminal_would_obey_is_written_as_escapes(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text(_edited(lambda d: d["cells"][0].update(kernel="a\x1b[31mb\x07", variant="größe")))

    assert read_report(path).cells[0].row == "a\\x1b[31mb\\x07[größe]"

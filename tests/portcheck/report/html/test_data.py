"""What the page is given to show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from portcheck.report.html import data
from portcheck.report.model import Report, build
from portcheck.toolchain.model import Toolchain
from portcheck.verdicts import Failure


def test_a_cell_is_its_fields_in_order(releases: Report) -> None:
    shown = data.as_dict(releases)
    cell = dict(zip(shown["fields"], shown["cells"][0], strict=True))

    assert (cell["kernel"], cell["variant"], cell["target"], cell["triton"]) == ("axpy", None, "cuda:90", "3.8.0")
    assert cell["artifacts"]["llir"] == ["0" * 32, 9_000]
    assert dict(zip(shown["resources"], cell["resources"], strict=True))["registers"] == 20
    assert shown["report"]["limits"]["cuda:90"]["shared"] == 232_448


def test_groups_name_their_cells_by_place(mixed: Report) -> None:
    shown = data.as_dict(mixed)
    (first, _) = shown["report"]["failures"]

    assert [shown["cells"][index][0] for index in first["cells"]] == ["gamma", "gamma", "ratio", "old", "hopeless"]
    assert [shown["cells"][index][0] for index in shown["report"]["missing"]] == ["gone"]


def test_a_cell_has_the_place_of_its_failure_and_a_message_that_is_not_the_groups(
    judge: Any, toolchain: Callable[[str], Toolchain], scatter4: Callable[[str], Failure]
) -> None:
    judged = [judge(f"scatter@cuda:{arch}@3.9.0", scatter4(arch)) for arch in ("90", "120")]
    shown = data.as_dict(build(judged, [toolchain("3.9.0")], 1.0, lambda cell: None))

    assert len(shown["report"]["failures"]) == 1
    assert shown["own"] == {1: {"message": "Feature '.tile::scatter4' not supported on .target 'sm_120a'"}}


def test_what_changed_from_release_to_release(releases: Report) -> None:
    (diff,) = data.as_dict(releases)["changes"]

    assert (diff["old"], diff["new"]) == ("3.8.0", "3.9.0")
    assert [pair["change"] for pair in diff["cells"]] == ["unchanged", "regressed", "fixed"]
    assert diff["cells"][0] == {"change": "unchanged", "slower": False, "spills": True, "old": 0, "new": 2}


def test_one_release_has_no_changes(mixed: Report) -> None:
    assert data.as_dict(mixed)["changes"] == []


def test_a_release_without_cells_is_not_compared(releases: Report) -> None:
    cells = tuple(cell for cell in releases.cells if cell.cell.release == "3.9.0")

    assert data.as_dict(replace(releases, cells=cells, groups=()))["changes"] == []


def test_names_that_look_alike_once_escaped_are_compared_as_what_they_are(
    judge: Any, toolchain: Callable[[str], Toolchain]
) -> None:
    judged = [judge(f"{name}@cuda:90@{of}") for name in ("\x1b", "\\x1b") for of in ("3.8.0", "3.9.0")]
    report = build(judged, [toolchain("3.8.0"), toolchain("3.9.0")], 1.0, lambda cell: None)

    assert data.as_dict(report)["changes"][0]["summary"]["unchanged"] == 2


def test_surprises_are_told(mixed: Report) -> None:
    notices = {notice["title"]: notice["lines"] for notice in data.as_dict(mixed)["notices"]}

    assert notices["Passed unexpectedly: take them out of xfail"] == ["better on hip:gfx942: AMD is late"]
    assert notices["Missing, no record answers: portcheck check compiles them"] == ["gone on cuda:90"]

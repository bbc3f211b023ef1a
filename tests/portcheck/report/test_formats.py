"""What every format of the table keeps."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import ValidationError

from portcheck.diagnose.signatures import Advice
from portcheck.report.formats import FORMATS, Format
from portcheck.report.github import commands
from portcheck.report.model import Report
from portcheck.report.note import NOTE
from portcheck.verdicts import SHORT
from tests.schemas import conforms, schema

each = pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)


def later(report: Report) -> Report:
    """The same records in another run: other times, from elsewhere."""
    cells = []
    for reported in report.cells:
        outcome = replace(reported.result.outcome, seconds=5.5, stages={"ttir": 1.0})
        origin = "cached" if reported.status else reported.result.origin
        cells.append(replace(reported, result=replace(reported.result, outcome=outcome, origin=origin)))
    return replace(report, cells=tuple(cells), seconds=99.0, summary={**report.summary, "compiled": 0, "cached": 8})


@each
def test_the_note_is_in_every_format(form: Format, mixed: Report, empty: Report) -> None:
    for report in (mixed, empty):
        assert NOTE in "".join(form.lines(report))


def test_the_note_is_in_what_github_is_told(mixed: Report) -> None:
    assert NOTE in commands(mixed)


@each
def test_the_same_report_gives_the_same_file(form: Format, mixed: Report, tmp_path: Path) -> None:
    form.write(mixed, tmp_path / "a")
    form.write(mixed, tmp_path / "b")

    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@each
def test_times_and_origins_do_not_count_as_a_change_and_verdicts_do(form: Format, mixed: Report) -> None:
    assert form.shown(later(mixed)) == form.shown(mixed)
    assert form.shown(replace(mixed, cells=mixed.cells[:-1])) != form.shown(mixed)


@each
def test_whatever_a_name_holds_the_file_is_utf_8(form: Format, hostile: Report, tmp_path: Path) -> None:
    form.write(hostile, tmp_path / "file")

    assert (tmp_path / "file").read_bytes().decode()


def test_a_report_that_says_why_it_has_no_cells_is_no_trouble(empty: Report) -> None:
    report = replace(empty, excuse="no row differs from main")
    json_, junit, sarif, markdown, html = ("".join(form.lines(report)) for form in FORMATS)

    assert json.loads(json_)["cells"] == []
    assert '<skipped type="empty" message="no row differs from main" />' in junit
    assert json.loads(sarif)["runs"][0]["invocations"][0]["executionSuccessful"]
    assert markdown.startswith("## portcheck: no row differs from main\n")
    assert "<title>portcheck: no row differs from main</title>" in html
    assert commands(report).startswith("::notice title=portcheck::no row differs from main. ")


@pytest.mark.parametrize("form", FORMATS[1:], ids=lambda form: form.name)
def test_what_is_known_of_a_cause_is_in_every_format(form: Format, mixed: Report) -> None:
    advice = Advice("entry", "the title", "because of it", "do that", "https://x.example/1", "3.0", "3.9")
    report = replace(mixed, groups=tuple(replace(group, advice=advice) for group in mixed.groups))

    for told in ("".join(form.lines(report)), commands(report)):
        assert "because of it" in told
        assert "do that" in told
        assert "https://x.example/1" in told


@pytest.mark.parametrize("name", ["mixed", "hostile", "empty"])
def test_the_json_report_is_as_its_schema_says(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    FORMATS[0].write(request.getfixturevalue(name), tmp_path / "report.json")

    conforms(json.loads((tmp_path / "report.json").read_bytes()), "portcheck-report-1")


def test_the_schema_knows_every_verdict() -> None:
    assert set(schema("portcheck-report-1")["$defs"]["verdict"]["enum"]) == set(SHORT)


def test_a_field_that_the_schema_does_not_describe_is_found(mixed: Report) -> None:
    told = json.loads("".join(FORMATS[0].lines(mixed)))
    told["cells"][0]["surprise"] = 1

    with pytest.raises(ValidationError, match="surprise"):
        conforms(told, "portcheck-report-1")

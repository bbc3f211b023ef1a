"""JUnit XML, read by a JUnit reader."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from junitparser import JUnitXml
from junitparser.xunit2 import JUnitXml as JUnitXml2

from portcheck.report.junit import lines
from portcheck.report.model import Report
from portcheck.report.note import NOTE
from portcheck.toolchain.model import Toolchain
from portcheck.verdicts import Failure


def text(report: Report) -> str:
    return "".join(lines(report))


def outcomes(report: Report) -> dict[str, list[tuple[str, str]]]:
    """`classname name` → what a reader makes of it: tag and message of each result."""
    cases = [case for suite in JUnitXml.fromstring(text(report).encode()) for case in suite]
    return {f"{case.classname} {case.name}": [(one._tag, one.message) for one in case.result] for case in cases}


def test_every_cell_is_a_test_case_with_the_outcome_that_its_status_asks_for(mixed: Report) -> None:
    missing = "module 'triton.language.extra.hip.libdevice' has no attribute 'tgamma'"
    found = outcomes(mixed)

    assert len(found) == len(mixed.cells)
    assert found["gamma cuda:90@3.9.0"] == []
    assert found["gamma[big] hip:gfx942@3.9.0"] == [("failure", missing)]
    assert found["old hip:gfx942@3.9.0"] == [("skipped", f"known to fail: {missing}")]
    assert found["hopeless hip:gfx942@3.9.0"] == [("skipped", f"expected to fail (AMD is late): {missing}")]
    assert found["better hip:gfx942@3.9.0"] == []
    assert found["late cuda:90@3.9.0"] == [("skipped", "not reached")]
    assert found["gone cuda:90@3.9.0"] == [("error", "no record answers: portcheck check compiles it")]


def test_the_counts_are_those_of_the_cases(mixed: Report) -> None:
    read = JUnitXml.fromstring(text(mixed).encode())
    (suite,) = read

    assert (read.tests, read.failures, read.errors, read.skipped) == (10, 4, 1, 3)
    assert (suite.name, suite.tests, suite.failures, suite.errors, suite.skipped) == ("Triton 3.9.0", 10, 4, 1, 3)
    assert {one.name: one.value for one in suite.properties()}["note"] == NOTE


def test_a_case_says_where_it_failed_and_what_was_measured(mixed: Report) -> None:
    (suite,) = JUnitXml2.fromstring(text(mixed).encode())
    case = next(case for case in suite if case.classname == "gamma[big]")
    told = {one.get("name"): one.get("value") for one in case._elem.iter("property")}

    assert told["verdict"] == "frontend-error"
    assert told["fingerprint"] == mixed.groups[0].fingerprint
    assert (case._elem.get("file"), case._elem.get("line")) == ("ci/kernels.py", "30")
    assert case.result[0].text.splitlines()[:3] == [
        "frontend-error in frontend",
        "module 'triton.language.extra.hip.libdevice' has no attribute 'tgamma'",
        "at ci/kernels.py:30:5",
    ]


def test_an_unexpected_pass_fails_where_xfail_is_strict(mixed: Report) -> None:
    cells = tuple(
        replace(reported, cell=replace(reported.cell, row=replace(reported.cell.row, settings=strict)))
        for reported in mixed.cells
        if (strict := replace(reported.cell.row.settings, xfail_strict=True))
    )

    assert outcomes(replace(mixed, cells=cells))["better hip:gfx942@3.9.0"] == [
        ("failure", "passed unexpectedly, which xfail_strict forbids (AMD is late)")
    ]


def test_a_missing_tool_is_an_error_and_not_a_failure(judge_report: Callable[[Failure], Report]) -> None:
    report = judge_report(Failure("toolchain-error", "hsaco", "no ld.lld"))

    assert outcomes(report) == {"a hip:gfx942@3.4.0": [("error", "no ld.lld")]}


def test_a_suite_for_every_release(judge_report: Callable[..., Report], toolchain: Callable[[str], Toolchain]) -> None:
    report = judge_report(None, "3.8.0", "3.9.0")

    assert [suite.name for suite in JUnitXml.fromstring(text(report).encode())] == ["Triton 3.8.0", "Triton 3.9.0"]


def test_whatever_a_name_holds_the_file_is_read(hostile: Report) -> None:
    told = text(hostile)
    root = ElementTree.fromstring(told.encode())

    assert len(root.findall("testsuite/testcase")) == 4
    names = [case.attrib["classname"] for case in root.iter("testcase")]
    assert all(']]> "quoted" & `tick`' in name and r"\x1b[31m \x00 \x7f \udcff \u202e \ufffe" in name for name in names)
    assert "<script>" not in told


def test_a_report_without_cells_is_an_error(empty: Report) -> None:
    assert outcomes(empty) == {"portcheck no cell": [("error", "no cell was checked")]}
    assert JUnitXml.fromstring(text(empty).encode()).errors == 1


@pytest.fixture
def judge_report(judge: Callable[..., object], toolchain: Callable[[str], Toolchain]) -> Callable[..., Report]:
    """`judge_report(failure, "3.4.0")`: one row on one target."""
    from portcheck.report.model import build

    def make(failure: Failure | None, *releases: str) -> Report:
        releases = releases or ("3.4.0",)
        judged = [judge(f"a@hip:gfx942@{release}", failure) for release in releases]
        return build(judged, [toolchain(release) for release in releases], 1.0, lambda cell: None)  # type: ignore[arg-type]

    return make

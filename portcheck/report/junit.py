"""The report as JUnit XML: a suite a release, a test case a cell.

What is known or expected to fail is skipped, with the reason. A cell that nothing is known of is an error, and so is a
report without cells, unless it says why: neither may pass for green.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from portcheck import __version__
from portcheck.report.incidents import causes
from portcheck.report.model import MISSING, UNTOLD, Group, Report, ReportCell
from portcheck.report.note import NOTE
from portcheck.report.places import place
from portcheck.report.text import one_line, shortened, visible

_MOST = 4_000  # characters of a compiler's output; the JSON report has all of it
_COUNTED = {"failure": "failures", "error": "errors", "skipped": "skipped"}  # element → attribute of its suite
_NOTHING = {"name": "no cell", "classname": "portcheck"}


def lines(report: Report) -> Iterator[str]:
    """The pieces of the file."""
    groups = {group.letter: group for group in report.groups}
    by_release: dict[str, list[ReportCell]] = {toolchain.release: [] for toolchain in report.toolchains}
    for reported in report.cells:
        by_release.setdefault(reported.cell.release, []).append(reported)
    suites = [_suite(report, release, cells, groups) for release, cells in by_release.items() if cells]
    suites = suites or [_empty(report.excuse)]
    totals = {name: sum(int(suite.attrib[name]) for suite in suites) for name in ("tests", *_COUNTED.values())}
    told = {"name": "portcheck", **{name: str(total) for name, total in totals.items()}}
    root = tostring(Element("testsuites", told), encoding="unicode").removesuffix(" />")
    yield f'<?xml version="1.0" encoding="UTF-8"?>\n{root}>\n'
    for suite in suites:
        indent(suite)
        yield tostring(suite, encoding="unicode") + "\n"
    yield "</testsuites>\n"


def _suite(report: Report, release: str, cells: Sequence[ReportCell], groups: Mapping[str, Group]) -> Element:
    toolchain = next((toolchain for toolchain in report.toolchains if toolchain.release == release), None)
    properties = {
        "portcheck": __version__,
        "triton": release,
        **({"python": toolchain.python, "digest": toolchain.digest} if toolchain else {}),
        "note": NOTE,
    }
    cases = [_case(report, reported, groups) for reported in cells]
    seconds = sum(reported.result.outcome.seconds for reported in cells)
    return _with(f"Triton {release}", properties, cases, seconds)


def _empty(excuse: str) -> Element:
    case = Element("testcase", _NOTHING)
    _add(case, *(("skipped", "empty", excuse) if excuse else ("error", "empty", "no cell was checked")))
    return _with("portcheck", {"portcheck": __version__, "note": NOTE}, [case], 0.0)


def _with(name: str, properties: Mapping[str, object], cases: Sequence[Element], seconds: float) -> Element:
    found = Counter(child.tag for case in cases for child in case)
    counts = {attribute: str(found[tag]) for tag, attribute in _COUNTED.items()}
    suite = Element("testsuite", {"name": one_line(name), "tests": str(len(cases)), **counts, "time": _time(seconds)})
    _add_properties(suite, properties)
    suite.extend(cases)
    return suite


def _case(report: Report, reported: ReportCell, groups: Mapping[str, Group]) -> Element:
    cell, outcome, at = reported.cell, reported.result.outcome, place(report, reported)
    case = Element(
        "testcase",
        {
            "classname": one_line(cell.row.name),
            "name": one_line(f"{cell.target}@{cell.release}"),
            "time": _time(outcome.seconds),
            "file": one_line(at.file),
            "line": str(at.line),
        },
    )
    told = {
        "target": str(cell.target),
        "triton": cell.release,
        "status": reported.status,
        "verdict": outcome.verdict if reported.status else None,
        "stage": reported.failure.stage if reported.failure else None,
        "fingerprint": reported.fingerprint,
        **(outcome.resources if reported.status else {}),
    }
    _add_properties(case, {name: value for name, value in told.items() if value is not None})
    _add_outcome(report, case, reported, groups)
    return case


def _add_outcome(report: Report, case: Element, reported: ReportCell, groups: Mapping[str, Group]) -> None:
    """What a reader counts: nothing if the cell is fine, else one element."""
    failure, expected = reported.failure, reported.expectation
    reason = f" ({expected.reason})" if expected and expected.reason else ""
    match reported.status:
        case "new" if failure and reported.letter:
            tag = "error" if failure.verdict == "toolchain-error" else "failure"
            _add(case, tag, failure.verdict, failure.message, _body(report, reported, groups[reported.letter]))
        case "known" if failure:
            _add(case, "skipped", "known", f"known to fail: {failure.message}")
        case "xfail" if failure:
            _add(case, "skipped", "xfail", f"expected to fail{reason}: {failure.message}")
        case "xpass" if reported.cell.row.settings.xfail_strict:
            _add(case, "failure", "xpass", f"passed unexpectedly, which xfail_strict forbids{reason}")
        case None if reported.result.origin == MISSING:
            _add(case, "error", "missing", "no record answers: portcheck check compiles it")
        case None if reported.result.origin == UNTOLD:
            _add(case, "error", "untold", "nothing was compiled (--static only), and it may fail all the same")
        case None:
            _add(case, "skipped", "skipped", "not reached")


def _body(report: Report, reported: ReportCell, group: Group) -> str:
    failure, at = reported.failure, place(report, reported)
    assert failure is not None  # it is in a group
    where = f"at {at.file}:{at.line}" + (f":{at.column}" if at.column is not None else "")
    parts = [f"{failure.verdict} in {failure.stage}", failure.message, where, *causes(group)]
    detail = shortened(failure.detail, _MOST)
    return "\n".join([*parts, *(["", detail] if detail not in ("", failure.message) else [])])


def _add(case: Element, tag: str, kind: str, message: str, body: str = "") -> None:
    element = SubElement(case, tag, {"type": kind, "message": one_line(message)})
    element.text = visible(body) or None


def _add_properties(element: Element, values: Mapping[str, object]) -> None:
    if values:
        properties = SubElement(element, "properties")
        for name, value in values.items():
            SubElement(properties, "property", {"name": name, "value": one_line(str(value))})


def _time(seconds: float) -> str:
    return f"{seconds:.3f}"

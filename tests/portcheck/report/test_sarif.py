"""SARIF 2.1.0, against the published schema and GitHub's limits."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator, FormatChecker

from portcheck.report.model import Report, build
from portcheck.report.note import NOTE
from portcheck.report.sarif import RESULTS, as_dict, lines
from portcheck.toolchain.model import Toolchain
from portcheck.verdicts import Failure, Position

SCHEMA = json.loads((Path(__file__).parent / "schemas/sarif-2.1.0-rtm.5.json").read_text())


def run(report: Report) -> dict[str, Any]:
    """The file's run, once the file was found valid."""
    read = json.loads("".join(lines(report)).encode())
    Draft4Validator(SCHEMA, format_checker=FormatChecker()).validate(read)
    (only,) = read["runs"]
    return only  # type: ignore[no-any-return]


def texts(value: Any) -> list[str]:
    """Every string in plain data."""
    if isinstance(value, dict):
        return [text for inner in value.values() for text in texts(inner)]
    if isinstance(value, list):
        return [text for inner in value for text in texts(inner)]
    return [value] if isinstance(value, str) else []


def test_one_result_for_every_cause_and_kernel_worst_first(mixed: Report) -> None:
    found = run(mixed)["results"]

    assert [(one["level"], one["locations"][0]["logicalLocations"][0]["name"]) for one in found] == [
        ("error", "gamma"),
        ("error", "ratio"),
        ("error", "scatter"),
        ("warning", "old"),
        ("note", "hopeless"),
    ]
    assert found[0]["properties"]["cells"] == ["gamma@hip:gfx942@3.9.0", "gamma[big]@hip:gfx942@3.9.0"]
    assert found[0]["message"]["text"] == (
        "gamma on hip:gfx942; gamma[big] on hip:gfx942: "
        "module 'triton.language.extra.hip.libdevice' has no attribute 'tgamma'"
    )


def test_a_rule_for_every_cause(mixed: Report) -> None:
    found = run(mixed)
    rules = found["tool"]["driver"]["rules"]

    assert [rule["id"] for rule in rules] == [f"{g.failure.verdict}-{g.fingerprint}" for g in mixed.groups]
    assert [rules[result["ruleIndex"]]["id"] for result in found["results"]] == [
        result["ruleId"] for result in found["results"]
    ]
    assert rules[1]["name"] == "AssemblerError"


def test_places_are_in_the_repository(mixed: Report) -> None:
    results = run(mixed)["results"]
    places = [result["locations"][0]["physicalLocation"] for result in results]

    assert [(place["artifactLocation"]["uri"], place["region"]["startLine"]) for place in places] == [
        ("ci/kernels.py", 24),
        ("ci/portcheck.toml", 1),  # the line is in an installed package, which no repository has
        ("ci/kernels.py", 40),  # nobody knows the line: the kernel's definition
        ("ci/portcheck.toml", 1),
        ("ci/portcheck.toml", 1),
    ]
    assert places[0]["region"] == {"startLine": 24, "startColumn": 26, "endLine": 24, "endColumn": 27}
    (related,) = results[0]["relatedLocations"]
    assert related["physicalLocation"]["region"]["startLine"] == 30


def test_identities_stay_when_lines_move_and_differ_between_kernels(mixed: Report) -> None:
    cells = [(reported.cell, _moved(reported.result)) for reported in mixed.cells]
    moved = build(cells, mixed.toolchains, 1.0, lambda cell: None, manifest="ci/portcheck.toml")

    before, after = (
        {result["partialFingerprints"]["primaryLocationLineHash"] for result in run(report)["results"]}
        for report in (mixed, moved)
    )
    assert before == after
    assert len(before) == 5


def _moved(result: Any) -> Any:
    failure = result.outcome.failure
    if failure is None or failure.position is None:
        return result
    at = replace(failure.position, line=failure.position.line + 100)
    return replace(result, outcome=replace(result.outcome, failure=replace(failure, position=at)))


def test_what_is_known_or_expected_is_suppressed_and_says_why(mixed: Report) -> None:
    suppressed = [result.get("suppressions") for result in run(mixed)["results"]]

    assert suppressed[:3] == [None] * 3
    assert suppressed[3] == [{"kind": "external", "justification": "known to the baseline"}]
    assert suppressed[4] == [{"kind": "external", "justification": "expected by the manifest: AMD is late"}]


def test_cells_without_a_verdict_are_told(mixed: Report) -> None:
    (invocation,) = run(mixed)["invocations"]

    assert not invocation["executionSuccessful"]
    assert [(told["level"], told["message"]["text"]) for told in invocation["toolExecutionNotifications"]] == [
        ("error", "2 of 10 cells have no verdict, and no results."),
        ("note", NOTE),
    ]


def test_a_report_without_cells_did_not_succeed(empty: Report) -> None:
    (invocation,) = run(empty)["invocations"]

    assert not invocation["executionSuccessful"]
    assert invocation["toolExecutionNotifications"][0]["level"] == "error"


def test_whatever_a_name_holds_the_file_is_valid(hostile: Report) -> None:
    found = run(hostile)

    assert len(found["results"]) == 2
    assert not any(character in text for text in texts(found) for character in "\x1b\x00\x7f\udcff\u202e\ufffe\r")
    assert "[link](" not in found["results"][0]["message"]["text"]  # SARIF would make a link of it
    assert found["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].isascii()


def test_github_s_limits_are_kept(judge: Callable[..., Any], toolchain: Callable[[str], Toolchain]) -> None:
    long = Failure("mlir-error", "ttgir", "x" * 10_000, detail="y" * 16_000)
    judged = [judge(f"k{number}@cuda:90@3.9.0", long) for number in range(RESULTS + 7)]
    found = run(build(judged, [toolchain("3.9.0")], 1.0, lambda cell: None))

    assert len(found["results"]) == RESULTS
    assert found["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"].startswith("7 results are left")
    for rule in found["tool"]["driver"]["rules"]:
        assert len(rule["shortDescription"]["text"]) <= 1024
        assert len(rule["fullDescription"]["text"]) <= 1024
        assert len(rule["properties"]["tags"]) <= 10


@pytest.mark.parametrize("file", ["../../other/kernels.py", "/abs/kernels.py", "<string>", "dist/lib/k.py"])
def test_no_path_leads_out_of_the_repository(mixed: Report, judge: Any, file: str) -> None:
    failure = Failure("mlir-error", "ttgir", "no", position=Position(file, 5))
    report = build([judge("a@cuda:90@3.9.0", failure)], mixed.toolchains, 1.0, lambda c: None, manifest="ci/p.toml")

    (result,) = as_dict(report)["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "ci/p.toml"

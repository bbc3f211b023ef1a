"""What GitHub's runner is told, read the way its runner reads it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from portcheck.errors import UsageError
from portcheck.report.github import ANNOTATIONS, SUMMARY, commands, quoted, write_summary
from portcheck.report.model import Report, build
from portcheck.report.note import NOTE
from portcheck.toolchain.model import Toolchain
from portcheck.verdicts import Failure


@dataclass
class Command:
    """A workflow command as the runner reads it."""

    kind: str
    properties: dict[str, str]
    message: str


def read(text: str) -> list[Command]:
    """Every line has to be a command."""
    found = []
    for line in text.splitlines():
        assert line.startswith("::")
        head, _, data = line[2:].partition("::")
        kind, _, told = head.partition(" ")
        properties = dict(part.split("=", 1) for part in told.split(",") if part)
        found.append(Command(kind, {name: _unescaped(value) for name, value in properties.items()}, _unescaped(data)))
    return found


def _unescaped(text: str) -> str:
    for escape, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(escape, character)
    return text


def failing(judge: Any, toolchain: Any, *causes: str) -> Report:
    """A kernel for each of `causes`."""
    judged = [judge(f"k{n}@cuda:90@3.9.0", Failure("mlir-error", "ttgir", cause)) for n, cause in enumerate(causes)]
    return build(judged, [toolchain("3.9.0")], 1.0, lambda cell: None)


def test_new_failures_are_errors_at_their_lines_and_the_rest_is_counted(mixed: Report) -> None:
    missing, gamma, scatter, ratio, passed, notice = read(commands(mixed))

    assert gamma.kind == "error"
    assert gamma.properties == {
        "file": "ci/kernels.py",
        "line": "24",
        "col": "26",
        "title": "gamma: frontend-error in frontend",
    }
    assert gamma.message.startswith("gamma on hip:gfx942; gamma[big] on hip:gfx942: module 'triton.")
    assert (scatter.properties["line"], ratio.properties["file"]) == ("40", "ci/portcheck.toml")
    assert (missing.kind, missing.message) == ("error", "no record, so nothing is known of 1 of 10 cells")
    assert (passed.kind, passed.message) == ("warning", "Passed unexpectedly: better@hip:gfx942@3.9.0")
    assert notice.kind == "notice"
    assert notice.message.startswith("10 cells: 2 ok, 6 failed (4 new, 1 known, 1 expected)")
    assert notice.message.endswith(NOTE)


def test_an_unexpected_pass_is_an_error_where_xfail_is_strict(mixed: Report) -> None:
    cells = tuple(
        replace(one, cell=replace(one.cell, row=replace(one.cell.row, settings=replace(s, xfail_strict=True))))
        for one in mixed.cells
        if (s := one.cell.row.settings)
    )

    assert "Passed unexpectedly, which xfail_strict forbids: better@hip:gfx942@3.9.0" in [
        command.message for command in read(commands(replace(mixed, cells=cells))) if command.kind == "error"
    ]


def test_no_more_than_are_shown_a_kernel_of_each_cause_first(judge: Any, toolchain: Any) -> None:
    report = failing(judge, toolchain, *["common"] * 20, "rare")
    errors = [command for command in read(commands(report)) if command.kind == "error"]

    assert len(errors) == ANNOTATIONS
    assert [error.message for error in errors[:2]] == ["k0 on cuda:90: common", "k20 on cuda:90: rare"]
    assert errors[-1].message.startswith("12 more failures, in k8, k9, k10, ")


def test_ten_are_all_shown(judge: Any, toolchain: Any) -> None:
    errors = [one for one in read(commands(failing(judge, toolchain, *["common"] * 10))) if one.kind == "error"]

    assert [error.message for error in errors] == [f"k{n} on cuda:90: common" for n in range(10)]


def test_whatever_a_name_holds_each_command_is_one_line(hostile: Report) -> None:
    text = commands(hostile)
    found = read(text)

    assert [command.kind for command in found] == ["error", "warning", "notice"]
    assert set(found[0].properties) == {"file", "line", "col", "title"}
    assert "%0A,: *s*" in found[0].message
    assert not any(character in text for character in "\x1b\x00\x7f\udcff\u202e\ufffe\r")
    text.encode()


def test_a_message_is_no_longer_than_the_runner_takes(judge: Any, toolchain: Any) -> None:
    first, *_ = read(commands(failing(judge, toolchain, "x" * 10_000)))

    assert len(first.message) <= 4096


def test_a_report_without_cells_is_an_error(empty: Report) -> None:
    error, notice = read(commands(empty))

    assert (error.kind, error.message) == ("error", "no cell was checked")
    assert notice.message.startswith("no cell was checked.")


def test_the_matrix_cannot_issue_commands() -> None:
    first, *matrix, last = quoted("   ::error::not a command\n").splitlines()

    assert first.startswith("::stop-commands::")
    assert last == f"::{first.removeprefix('::stop-commands::')}::"
    assert quoted("") != quoted("")  # nobody can guess the token
    assert "   ::error::not a command" in matrix


def test_the_summary_is_added_to_what_is_there(mixed: Report, tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    write_summary(mixed, {"GITHUB_STEP_SUMMARY": str(summary)})

    assert summary.read_text().startswith("before\n## portcheck: 10 cells")
    assert summary.read_text().endswith(f"_{NOTE}_\n")


def test_the_summary_stays_below_github_s_limit(
    judge: Any, toolchain: Callable[[str], Toolchain], tmp_path: Path
) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("b" * 500_000)
    names = ("".join(chr(97 + int(digit)) for digit in str(number)) for number in range(1000))
    write_summary(
        failing(judge, toolchain, *(f"{'x' * 900} {name}" for name in names)), {"GITHUB_STEP_SUMMARY": str(summary)}
    )

    assert 600_000 < summary.stat().st_size <= SUMMARY

    summary.write_text("b" * (SUMMARY + 5))
    write_summary(failing(judge, toolchain, "no"), {"GITHUB_STEP_SUMMARY": str(summary)})
    assert summary.stat().st_size == SUMMARY + 5


def test_without_a_summary_nothing_is_written(mixed: Report) -> None:
    write_summary(mixed, {})


def test_a_summary_that_cannot_be_written_is_one_clear_error(mixed: Report, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"GITHUB_STEP_SUMMARY .*: cannot write the summary: Is a directory"):
        write_summary(mixed, {"GITHUB_STEP_SUMMARY": str(tmp_path)})

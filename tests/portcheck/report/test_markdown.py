"""The report as Markdown, read by a Markdown parser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from markdown_it import MarkdownIt

from portcheck.report.markdown import code, escaped, render
from portcheck.report.model import Report, build
from portcheck.report.note import NOTE
from portcheck.toolchain.model import Toolchain
from portcheck.verdicts import Failure
from tests.portcheck.report.conftest import HOSTILE

OURS = {"<details>", "<summary>", "</summary>", "</details>", "<details><summary>what the compiler printed</summary>"}


def tokens(text: str) -> list[Any]:
    """All tokens, those within paragraphs too."""
    blocks = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    return [token for block in blocks for token in (block, *(block.children or ()))]


def test_a_report_has_counts_matrix_groups_surprises_and_the_note(mixed: Report) -> None:
    text = render(mixed)

    assert text.startswith(
        "## portcheck: 10 cells: 2 ok, 6 failed (4 new, 1 known, 1 expected), 1 passed unexpectedly, "
    )
    assert "| kernel | `cuda:90` | `hip:gfx942` |\n| --- | --- | --- |\n| `gamma` | ok | **front:A** |\n" in text
    assert (
        "| `hopeless` | - | xfail |\n| `better` | - | xpass |\n| `late` | - | - |\n| `gone` | missing | - |\n" in text
    )
    assert "### A · frontend-error in frontend\n\n```text\nmodule 'triton.language" in text
    assert "### Missing, no record answers: portcheck check compiles them\n\n- gone on cuda:90\n" in text
    assert text.endswith(f"_{NOTE}_\n")


def test_nothing_that_a_name_or_a_message_holds_is_markup(hostile: Report) -> None:
    found = tokens(render(hostile))

    html = {token.content.strip() for token in found if token.type in ("html_block", "html_inline")}
    assert html <= OURS
    assert not [token for token in found if token.type in ("link_open", "image", "s_open", "strong_open", "hr")][1:]
    headings = [found[index + 1].content for index, token in enumerate(found) if token.type == "heading_open"]
    assert not [heading for heading in headings if heading.startswith("heading")]
    cells = [token for token in found if token.type in ("th_open", "td_open")]
    assert len(cells) == 2 * (1 + 4)  # a name with a bar is still one cell


@pytest.mark.parametrize("text", ["a|b", "`", "``a`", "a`", HOSTILE, "a\\|b"])
def test_code_in_a_table_shows_the_text(text: str) -> None:
    found = tokens(f"| a |\n|---|\n| {code(text)} |\n")
    (shown,) = [token.content for token in found if token.type == "code_inline"]

    assert shown.replace("\\|", "|").startswith(text[:20].replace("\\|", "|").split("\n")[0].strip())


def test_escaped_text_is_shown_as_it_is() -> None:
    (paragraph,) = [token for token in tokens(escaped(HOSTILE)) if token.type == "inline"]

    shown = "".join(token.content for token in paragraph.children if token.type in ("text", "text_special"))
    assert shown.startswith("a|b <script>alert('x')</script> ]]> \"quoted\" & `tick` ``two`` [link](javascript:x)")
    assert not [token for token in paragraph.children if token.type not in ("text", "text_special")]


def test_a_large_matrix_shows_the_rows_that_are_not_fine(judge: Any, toolchain: Callable[[str], Toolchain]) -> None:
    failure = Failure("mlir-error", "ttgir", "no")
    judged = [judge(f"k{number}@cuda:90@3.9.0", failure if number == 70 else None) for number in range(100)]
    text = render(build(judged, [toolchain("3.9.0")], 1.0, lambda cell: None))

    assert "| `k70` | **mlir:A** |\n\n99 further rows are ok wherever they were compiled.\n" in text
    assert "`k71`" not in text


def test_a_limit_is_kept_and_what_is_left_out_is_counted(judge: Any, toolchain: Callable[[str], Toolchain]) -> None:
    judged = [
        judge(f"k{n}@cuda:90@3.9.0", Failure("mlir-error", "ttgir", f"{'é' * 500} {chr(65 + n)}x")) for n in range(20)
    ]
    text = render(build(judged, [toolchain("3.9.0")], 1.0, lambda cell: None), limit=10_000)

    assert len(text.encode()) <= 10_000
    assert "further parts are left out" in text
    assert text.endswith(f"_{NOTE}_\n")


def test_what_fails_is_kept_before_where(judge: Any, toolchain: Callable[[str], Toolchain]) -> None:
    failure = Failure("mlir-error", "ttgir", "this is the cause")
    judged = [judge(f"kernel_with_a_long_name_{n}@cuda:90@3.9.0", failure) for n in range(500)]
    report = build(judged, [toolchain("3.9.0")], 1.0, lambda cell: None)
    text = render(report, limit=5_000)

    assert "this is the cause" in text
    assert "| kernel |" not in text
    assert "**3 further parts are left out, since this page may not be longer.**" in text
    assert render(report).count("| kernel |") == 3


def test_a_report_without_cells_does_not_look_green(empty: Report) -> None:
    assert render(empty).startswith("## portcheck: no cell was checked\n")

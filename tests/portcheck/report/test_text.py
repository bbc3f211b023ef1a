"""Texts fit to be shown."""

from __future__ import annotations

import pytest

from portcheck.report.text import one_line, shortened, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("a\r\nb", "a\nb"),
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("nul\x00", r"nul\x00"),
        ("file\udcff.py", r"file\udcff.py"),
        ("\u202eright to left", r"\u202eright to left"),
        ("é 漢 🎉", "é 漢 🎉"),
    ],
)
def test_what_cannot_be_shown_becomes_an_escape(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_one_line_has_no_break_in_it() -> None:
    assert one_line(" a\n\n  b\tc ") == "a b c"


def test_what_is_too_long_ends_in_an_ellipsis() -> None:
    assert (shortened("abc", 3), shortened("abcd", 3)) == ("abc", "ab…")

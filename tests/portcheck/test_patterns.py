"""Patterns: only `*` and `?` are special."""

from __future__ import annotations

import pytest

from portcheck.patterns import is_wild, matches, suggestion


@pytest.mark.parametrize(
    ("pattern", "name", "expected"),
    [
        ("attn*", "attn[bf16]", True),
        ("attn[bf16]", "attn[bf16]", True),
        ("attn[bf16]", "attnb", False),
        ("attn", "attn[bf16]", False),
        ("a?c", "abc", True),
        ("a?c", "ac", False),
        ("a.c", "abc", False),
        ("*", "two\nlines", True),
        ("*", "", True),
    ],
)
def test_matches(pattern: str, name: str, expected: bool) -> None:
    assert matches(pattern, name) is expected


def test_brackets_are_not_wild() -> None:
    assert is_wild("a*") and is_wild("a?")
    assert not is_wild("a[bc]")


def test_a_suggestion_is_made_only_when_something_is_near() -> None:
    assert suggestion("num_wraps", ["num_stages", "num_warps"]) == " (did you mean num_warps?)"
    assert suggestion("zzz", ["num_warps"]) == ""

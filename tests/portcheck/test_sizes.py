"""Sizes as users write and read them."""

from __future__ import annotations

import pytest

from portcheck.errors import UsageError
from portcheck.sizes import format_size, parse_size


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0),
        ("1048576", 1 << 20),
        ("12B", 12),
        ("5GiB", 5 << 30),
        ("8 gib", 8 << 30),
        ("1.5KiB", 1536),
        ("500MB", 500_000_000),
        ("2 kB", 2000),
        ("512M", 512 << 20),
        (" 1T ", 1 << 40),
    ],
)
def test_a_size_is_read(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "GiB", "-1", "1e9", "5 GiB/s", "5XB", "1.GiB", "٣", "5GiB5", "inf"])
def test_what_is_no_size_is_told_with_examples(text: str) -> None:
    with pytest.raises(UsageError, match="write it like 5GiB"):
        parse_size(text)


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (5 << 30, "5.0 GiB"), (3 << 50, "3072.0 TiB")]
)
def test_a_size_is_written(size: int, text: str) -> None:
    assert format_size(size) == text

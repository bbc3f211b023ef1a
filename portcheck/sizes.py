"""Sizes as users write and read them: `5GiB`, `500 MB`."""

from __future__ import annotations

import re

from portcheck.errors import UsageError

_BINARY = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
_DECIMAL = {"kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
# A bare letter means what it means to dd, docker and systemd: the binary unit.
_LETTERS = {unit[0]: factor for unit, factor in _BINARY.items()}
_UNITS = {unit.lower(): factor for unit, factor in {"": 1, "B": 1, **_BINARY, **_DECIMAL, **_LETTERS}.items()}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]*)", re.ASCII)


def parse_size(text: str) -> int:
    """Bytes in `5GiB`, `1.5 GB`, `512M` or `1048576`; the case of letters does not matter.

    Raises:
        UsageError: the text has no such form.
    """
    match = _SIZE.fullmatch(text.strip().lower())
    if match is None or match[2] not in _UNITS:
        raise UsageError(f'malformed size "{text}": write it like 5GiB, 500MB or 1048576')
    number = float(match[1]) if "." in match[1] else int(match[1])
    return int(number * _UNITS[match[2]])


def format_size(size: int) -> str:
    """`size` bytes for people: `4.7 GiB`, `12 B`."""
    for unit, factor in reversed(_BINARY.items()):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size} B"

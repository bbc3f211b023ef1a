"""Triton releases as a manifest names them: `current`, a version, a path; and specifiers such as `>=3.5,<3.9`."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

from portcheck.errors import UsageError
from portcheck.manifest.model import CURRENT
from portcheck.manifest.scalars import text
from portcheck.patterns import suggestion

VERSION = re.compile(
    r"(?P<numbers>[0-9]+(?:\.[0-9]+)*)(?:(?P<pre>a|b|rc)(?P<number>[0-9]+))?"
    r"(?:\.post(?P<post>[0-9]+))?(?:\.dev(?P<dev>[0-9]+))?(?:\+[A-Za-z0-9.]+)?"
)
COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}
CLAUSE = re.compile(rf"\s*({'|'.join(map(re.escape, COMPARISONS))})\s*(\S+?)\s*")
# What follows the numbers, so that it sorts: kind (.dev, a, b, rc, none), its number, post + 1, 0 for .dev, its number.
FINAL = (3, 0, 0, 1, 0)

Version = tuple[tuple[int, ...], tuple[int, ...]]


def parse_release(value: Any) -> str:
    """Read an entry of `triton`: `current`, a release `X.Y.Z`, or the path of a wheel or an environment.

    Raises:
        UsageError: none of these.
    """
    written = text(value)
    match = VERSION.fullmatch(written)
    if written == CURRENT or is_path(written) or (match and match["numbers"].count(".") == 2):
        return written
    raise UsageError(
        f'unknown release "{written}"{suggestion(written, [CURRENT])}: '
        "write current, a release such as 3.8.0, or a path such as ./triton.whl"
    )


def is_path(release: str) -> bool:
    """Is a release given by the path of a wheel or of an environment?"""
    return "/" in release or release.endswith(".whl")


def parse_specifier(value: Any) -> str:
    """Read a version specifier: comparisons joined by commas, all of which have to hold.

    Raises:
        UsageError: the text has another form.
    """
    _clauses(text(value))
    return str(value)


def release_matches(specifier: str, release: str) -> bool:
    """Is `release` one that `specifier` describes?

    A pre-release or post-release counts as its release (3.9.0rc1 is 3.9.0: `<3.9` leaves it out and `>=3.9` takes it),
    unless the specifier itself names one. Local suffixes such as `+git1a2b` never count.

    Raises:
        UsageError: malformed specifier or release.
    """
    numbers, suffix = _version(release)
    for compare, (wanted, wanted_suffix) in _clauses(specifier):
        exact = wanted_suffix != FINAL
        if not compare((numbers, suffix) if exact else numbers, (wanted, wanted_suffix) if exact else wanted):
            return False
    return True


def _clauses(specifier: str) -> list[tuple[Callable[[Any, Any], bool], Version]]:
    clauses = [CLAUSE.fullmatch(part) for part in specifier.split(",")]
    parsed = [(COMPARISONS[clause[1]], _version(clause[2])) for clause in clauses if clause]
    if len(parsed) < len(clauses):
        raise UsageError(f'malformed specifier "{specifier}": write for example <3.9, ==3.8.0 or >=3.5,<3.9')
    return parsed


def _version(written: str) -> Version:
    match = VERSION.fullmatch(written)
    if match is None:
        raise UsageError(f'"{written}" is not a release: write it like 3.9.0')
    numbers = [int(number) for number in match["numbers"].split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    if match["pre"] is None and match["post"] is None and match["dev"] is None:
        return tuple(numbers), FINAL
    # A bare .dev comes before the first pre-release.
    kind = {"a": 0, "b": 1, "rc": 2}.get(match["pre"], 3 if match["post"] else -1)
    post = int(match["post"]) + 1 if match["post"] else 0
    final = 0 if match["dev"] else 1
    return tuple(numbers), (kind, int(match["number"] or 0), post, final, int(match["dev"] or 0))

"""What MLIR and LLVM print on fd 2: finding the diagnostics, and folding away the IR between them."""

from __future__ import annotations

import re

from portcheck.verdicts import Position

_PLACE = re.compile(
    r'^(?:loc\("(?P<old>[^"\n]+)":(?P<oldline>\d+):(?P<oldcolumn>\d+)\)'  # Triton up to 3.2, columns from 0
    r"|(?P<file>[^\s:][^:\n]*):(?P<line>\d+):(?P<column>\d+)"  # later
    r"|loc\([^\n]*?\)|ld\.lld|lld): "
)
_ERROR = re.compile(r"^error: (.+)")
_CALLED_FROM = "note: called from"
_FATAL = re.compile(r"^(LLVM ERROR: .+|Fatal Python error: .+|terminate called .+)|(Assertion [`'].+ failed\.)")
_FOLLOW_UP = "Failures have been detected while processing an MLIR pass pipeline"
_PASSES = (
    re.compile(r"Pipeline failed while executing \[`(\w+)`? on "),
    re.compile(r"Running pass ['\"`]([^'\"`\n]+)['\"`]"),  # LLVM's stack dump
)
# IR stands between the diagnostics: (a line that opens it, the line that closes it; None: it is one line).
_IR = (
    (re.compile(r'^(module\b|"builtin\.module"|tt\.func\b)'), re.compile(r"^(\}|\}\) .*)$")),
    (re.compile(r"^\{-#"), re.compile(r"^#-\}")),
    (re.compile(r"^#\w+ = (#|loc)"), None),
    (re.compile(r"^// -----// "), None),
)
_LIBRARY = re.compile(r"(^|/)triton/(language|experimental|tools)/")
_MAX_LINE = 1000  # characters; types can be longer than that


def reasons(stderr: str) -> list[str]:
    """The texts of all errors on fd 2 in the order in which they were printed, positions left out."""
    found = []
    for line in stderr.splitlines():
        if error := _ERROR.match(_PLACE.sub("", line)):
            if not error[1].startswith(_FOLLOW_UP):
                found.append(error[1])
        elif fatal := _FATAL.search(line):
            found.append(fatal[1] or fatal[2])
    return found


def fatal_reason(stderr: str) -> str | None:
    """The line with which a process died: `LLVM ERROR: …` or `Assertion … failed.`"""
    return next((found[1] or found[2] for line in stderr.splitlines() if (found := _FATAL.search(line))), None)


def unraised_error(stderr: str) -> str | None:
    """The first error that the compiler printed on fd 2, for a compile that returned as if nothing had happened."""
    for line in stderr.splitlines():
        if error := _ERROR.match(_PLACE.sub("", line)) or re.match(r"^(LLVM ERROR: .+)", line):
            return error[1]
    return None


def pass_name(stderr: str) -> str | None:
    """The compiler pass that was running when the pipeline failed."""
    return next((found[1] for pattern in _PASSES if (found := pattern.search(stderr))), None)


def location(stderr: str, first_column: int = 1) -> Position | None:
    """Where the first error with a position is, in the user's code if its calls lead there.

    An error inside Triton's own library is followed by notes that say from where it was called. `first_column`: from
    which number the compiler counts columns; up to Triton 3.7 from 0.
    """
    inside: Position | None = None
    for line in stderr.splitlines():
        place = _PLACE.match(line)
        rest = line[place.end() :] if place else ""
        if not place or not rest.startswith(("error: ", _CALLED_FROM)):
            continue
        if inside and rest.startswith("error: "):
            break
        if at := _position(place, first_column):
            if not is_library(at.file):
                return at
            inside = inside or at
    return inside


def is_library(file: str) -> bool:
    """Is `file` a part of Triton's own kernel library?"""
    return _LIBRARY.search(file) is not None


def fold(stderr: str) -> str:
    """fd 2 without modules, reproducers and layout aliases, and with no endless line."""
    kept: list[str] = []
    closing: re.Pattern[str] | None = None
    folded = 0
    for line in stderr.splitlines():
        if closing:
            folded += 1
            closing = None if closing.match(line) else closing
        elif opened := next((entry for entry in _IR if entry[0].match(line)), None):
            folded += 1
            closing = opened[1]
        else:
            kept.append(line if len(line) <= _MAX_LINE else line[:_MAX_LINE] + "…")
    if folded:
        kept.append(f"({folded} lines of IR are not shown)")
    return re.sub(r"\n{2,}", "\n", "\n".join(kept)).strip()


def _position(place: re.Match[str], first_column: int) -> Position | None:
    if place["old"]:
        return Position(place["old"], int(place["oldline"]), int(place["oldcolumn"]) + 1)
    if place["file"] and place["file"].endswith(".py") and int(place["line"]):
        return Position(place["file"], int(place["line"]), int(place["column"]) + 1 - first_column or 1)
    return None

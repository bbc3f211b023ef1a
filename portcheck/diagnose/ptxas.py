"""What ptxas prints, and which line of the kernel its line numbers stand for."""

from __future__ import annotations

import re

from portcheck.diagnose.diagnostics import is_library
from portcheck.verdicts import Position

_ERROR = re.compile(
    r"^(?:\S*ptxas\S*\s+)?(?:[^;\n]+, line (?P<line>\d+);\s*)?(?P<severity>error|fatal)\s*:\s*(?P<text>.+)$",
    re.MULTILINE,
)
_ABORTED = "Ptx assembly aborted due to errors"
_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"\n]+)"', re.MULTILINE)
_LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)(?:.*?\binlined_at\s+(\d+)\s+(\d+)\s+(\d+))?")

_Place = tuple[int, int, int]  # number of the file, line, column


def ptxas_errors(text: str) -> list[str]:
    """The distinct errors among ptxas's lines in `text`, in order, without temporary names and line numbers."""
    if "ptxas" not in text:
        return []
    found = dict.fromkeys(match["text"].strip() for match in _ERROR.finditer(text))
    return [error for error in found if error != _ABORTED] or list(found)


def ptxas_position(ptx: str, ptxas_stderr: str, first_column: int = 1) -> Position | None:
    """The kernel's source line for the first ptxas error that has a line, or None if the PTX has no line information.

    ptxas counts lines of the PTX; the nearest `.loc` before says where those came from. Where that is inside Triton's
    own library, the position of the call in the user's code is given. `first_column`: from which number columns count.
    """
    line = next((int(found["line"]) for found in _ERROR.finditer(ptxas_stderr) if found["line"]), None)
    if line is None:
        return None
    here: _Place | None = None
    callers: dict[_Place, _Place] = {}
    for text in ptx.splitlines()[:line]:
        if (loc := _LOC.match(text)) and int(loc[2]):  # line 0: code that belongs to no line
            here = (int(loc[1]), int(loc[2]), int(loc[3]))
            if loc[4]:
                callers[here] = (int(loc[4]), int(loc[5]), int(loc[6]))
    files = {int(number): name for number, name in _FILE.findall(ptx)}
    while here and here in callers and is_library(files.get(here[0], "")):
        here = callers.pop(here)
    if here is None or here[0] not in files:
        return None
    return Position(files[here[0]], here[1], here[2] + 1 - first_column or None)

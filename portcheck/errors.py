"""One exception class per exit status; everything else is a bug of portcheck."""

from __future__ import annotations

import traceback
from pathlib import Path


class PortcheckError(Exception):
    """A problem that is told to the user in one line, without a traceback."""

    status = 2


class UsageError(PortcheckError):
    """Bad arguments or a bad manifest: what, where, and what to do about it."""

    status = 2


class EnvironmentProblem(PortcheckError):
    """Triton, an environment or the machine is at fault; the message carries the remedy."""

    status = 3


def internal_error(error: Exception) -> EnvironmentProblem:
    """What portcheck did not foresee, as a problem of one line that says what to attach to a report."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    what = f"{type(error).__name__}: {error}".splitlines()[0]
    log = Path.cwd() / "portcheck-internal-error.txt"
    try:
        log.write_text("".join(traceback.format_exception(error)))
        attach = f"please report it with {log}"
    except OSError:
        attach = "please report it"
    return EnvironmentProblem(f"internal error in {Path(frame.filename).name}:{frame.lineno}: {what}; {attach}")

"""One exception class per exit status; everything else is a bug of portcheck."""

from __future__ import annotations


class PortcheckError(Exception):
    """A problem that is told to the user in one line, without a traceback."""

    status = 2


class UsageError(PortcheckError):
    """Bad arguments or a bad manifest: what, where, and what to do about it."""

    status = 2


class EnvironmentProblem(PortcheckError):
    """Triton, an environment or the machine is at fault; the message carries the remedy."""

    status = 3

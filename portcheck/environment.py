"""Environment variables in keys: which ones may count, and how.

A variable that user code was seen reading counts by its value. Where it cannot be known what is read, all variables
count but those that only say who, where and in which terminal. None of the private ones ever counts: whatever a module
makes of the user's name or home, two checkouts have to agree on their keys.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from portcheck.compiler.child.settings import PREFIXES
from portcheck.compiler.child.settings import variables as triton_variables
from portcheck.keys import canonical, digest
from portcheck.patterns import matches

__all__ = ["PREFIXES", "distributions", "is_private", "observed", "triton_variables", "variables", "whole"]

# Who and where: never in a key.
PRIVATE = [
    "HOME",
    "USER",
    "LOGNAME",
    "USERNAME",
    "HOSTNAME",
    "PWD",
    "OLDPWD",
    "_",  # the path of the command
    "PATH",
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONHASHSEED",
    "MAIL",
    "TMPDIR",
    "TMP",
    "TEMP",
    "XDG_*",
    "VIRTUAL_ENV*",
    "CONDA_PREFIX*",
    "PYENV_*",
    "SSH_*",
    "PORTCHECK_*",
    "PYTEST_*",
    "DOIT_*",
    "COVERAGE_*",
    "TRITON_CACHE_DIR",
    "TRITON_HOME",
]
# The terminal, the session and the CI job: only in a key if they were seen to be read.
INCIDENTAL = [
    "MANPATH",
    "INFOPATH",
    "SHELL",
    "SHLVL",
    "TERM",
    "TERM_*",
    "COLORTERM",
    "COLUMNS",
    "LINES",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "WINDOWID",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR*",
    "PAGER",
    "EDITOR",
    "VISUAL",
    "LESS*",
    "LS_COLORS",
    "PS1",
    "PS2",
    "PROMPT*",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "DBUS_*",
    "GPG_*",
    "TMUX*",
    "STY",
    "CI",
    "GITHUB_*",
    "RUNNER_*",
    "ACTIONS_*",
    "GITLAB_*",
    "CI_*",
    "BUILDKITE*",
    "JENKINS_*",
    "PRE_COMMIT*",
    "CONDA_*",
    "PYTHONUNBUFFERED",
    "PYTHONDONTWRITEBYTECODE",
    "PIP_*",
    "UV_*",
    "MAKEFLAGS",
    "MAKELEVEL",
    "MFLAGS",
    "CUDA_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES",
]


def is_private(name: str) -> bool:
    """Does a variable only say who and where?"""
    return _any_matches(tuple(PRIVATE), name)


def observed(name: str, environ: Mapping[str, str]) -> str | None:
    """A variable that was read, as a key has it: its value, or the content of the file that it names."""
    value = environ.get(name)
    return None if value is None else _resolved(value)


def variables(environ: Mapping[str, str]) -> dict[str, str]:
    """All variables that may matter to code that may read any."""
    incidental = tuple(PRIVATE + INCIDENTAL)
    return {name: _resolved(value) for name, value in environ.items() if not _any_matches(incidental, name)}


def whole(environ: Mapping[str, str]) -> str:
    """The digest of the environment for code that went through all of it: it may have looked for any name."""
    names = sorted(name for name in environ if not is_private(name))
    return digest(canonical([variables(environ), names]))


@cache
def distributions(path: tuple[str, ...]) -> str:
    """The digest of what is installed in the folders of a search path: names and versions."""
    installed = importlib.metadata.distributions(path=list(path))
    found = {(str(found.metadata["Name"]), found.version) for found in installed}
    return digest(canonical(sorted(map(list, found))))


def _resolved(value: str) -> str:
    path = Path(value)
    if not path.is_absolute():
        return value
    try:
        return f"file {digest(path.read_bytes())}" if path.is_file() else value
    except (OSError, ValueError):
        return value


@cache
def _any_matches(patterns: tuple[str, ...], name: str) -> bool:
    return any(matches(pattern, name) for pattern in patterns)

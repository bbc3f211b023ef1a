"""What of the machine a key covers here: environment variables and installed distributions.

Both are wide on purpose: what cannot be shown to be irrelevant widens the key, which costs a compile, never a lie.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from portcheck.keys import canonical, digest
from portcheck.patterns import matches

# Variables that say who, where and in which terminal, or that only dump and print. Everything else is in the keys.
IGNORED = (
    *("HOME", "USER", "LOGNAME", "USERNAME", "HOSTNAME", "PWD", "OLDPWD", "PATH", "MANPATH", "INFOPATH", "MAIL", "_"),
    *("SHELL", "SHLVL", "TERM", "TERM_*", "COLORTERM", "COLUMNS", "LINES", "DISPLAY", "WAYLAND_DISPLAY", "WINDOWID"),
    *(
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
    ),
    *("LANG", "LANGUAGE", "LC_*", "TZ", "TMPDIR", "TMP", "TEMP", "XDG_*", "DBUS_*", "SSH_*", "GPG_*", "TMUX*", "STY"),
    *("CI", "GITHUB_*", "RUNNER_*", "ACTIONS_*", "GITLAB_*", "CI_*", "BUILDKITE*", "JENKINS_*", "PRE_COMMIT*"),
    *(
        "VIRTUAL_ENV*",
        "CONDA_*",
        "PYENV_*",
        "PYTHONHASHSEED",
        "PYTHONPATH",
        "PYTHONUNBUFFERED",
        "PYTHONDONTWRITEBYTECODE",
    ),
    *("PYTEST_*", "PIP_*", "UV_*", "DOIT_*", "PORTCHECK_*", "COVERAGE_*", "MAKEFLAGS", "MAKELEVEL", "MFLAGS"),
    *("TRITON_CACHE_DIR", "TRITON_DUMP_DIR", "TRITON_HOME", "TRITON_KERNEL_DUMP", "TRITON_ALWAYS_COMPILE"),
    *("TRITON_PRINT_AUTOTUNING", "TRITON_DUMP_PTXAS_LOG", "NVPTX_ENABLE_DUMP", "AMDGCN_ENABLE_DUMP", "MLIR_ENABLE_*"),
    *("LLVM_IR_ENABLE_DUMP", "LLVM_ENABLE_TIMING", "MLIR_DUMP_PATH", "CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"),
)


def variables(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment variables that keys cover; one that names a file counts by the file's content, not its path."""
    return {name: _resolved(value) for name, value in environ.items() if not _ignored(name)}


@cache
def distributions() -> str:
    """The digest of what is installed for this interpreter: names, versions and lists of files with their hashes."""
    found = {
        f"{found.metadata['Name']}=={found.version}": digest((found.read_text("RECORD") or "").encode())
        for found in importlib.metadata.distributions()
    }
    return digest(canonical(found))


def _resolved(value: str) -> str:
    path = Path(value)
    if not path.is_absolute():
        return value
    try:
        return f"file {digest(path.read_bytes())}" if path.is_file() else value
    except (OSError, ValueError):
        return value


@cache
def _ignored(name: str) -> bool:
    return any(matches(pattern, name) for pattern in IGNORED)

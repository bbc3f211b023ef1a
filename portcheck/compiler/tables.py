"""What a toolchain's Triton supports, asked in a child process, beside what devices are known to grant."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from portcheck.compiler import devices
from portcheck.compiler.guard import kill_session
from portcheck.compiler.tree import CHILD, ONE_THREAD, as_triton_has_it
from portcheck.diagnose import limits
from portcheck.diagnose.limits import Limits
from portcheck.diagnose.message import explain
from portcheck.errors import EnvironmentProblem
from portcheck.target import Target
from portcheck.toolchain.model import Toolchain

_SECONDS = 600.0  # that asking may take on a slow machine


@dataclass(frozen=True, slots=True)
class TargetTable:
    """One target."""

    target: Target
    trouble: str | None  # why a trivial kernel does not compile for it; None: it does
    warp_size: int
    fp8: tuple[str, ...]  # types that the front end takes
    limits: Limits | None  # None: nobody knows them here


@dataclass(frozen=True, slots=True)
class Tables:
    """What one Triton supports."""

    toolchain: Toolchain
    llvm: str | None
    amd_llvm: str | None  # the revision of the LLVM that is for AMD only, if there is one
    ptxas: Mapping[str, str]  # program → version
    libdevice: Mapping[str, tuple[str, ...]]  # backend → functions
    targets: tuple[TargetTable, ...]


def ask(toolchain: Toolchain) -> Tables:
    """Ask a toolchain's Triton.

    Raises:
        EnvironmentProblem: it cannot be asked.
    """
    named = dict.fromkeys([*limits.table(), *devices.known()])
    request = {
        "package": str(toolchain.package),
        "digest": toolchain.digest,
        "targets": [as_triton_has_it(target) for target in named],
    }
    with tempfile.TemporaryDirectory(prefix="portcheck-") as folder:
        asked, answer, said = Path(folder, "request"), Path(folder, "answer"), Path(folder, "said")
        asked.write_text(json.dumps(request), encoding="utf-8")
        with said.open("wb") as log:
            child = subprocess.Popen(
                [toolchain.executable, str(CHILD), "tables", str(asked), str(answer)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=folder,
                env={**os.environ, **ONE_THREAD},
                start_new_session=True,
            )
            try:
                status = child.wait(_SECONDS)
            except subprocess.TimeoutExpired:
                status = None
            finally:  # whoever interrupts leaves no compiler behind
                kill_session(child.pid)
                child.wait()
        if status == 0:
            return _tables(toolchain, json.loads(answer.read_text(encoding="utf-8")))
        ended = f"it ended with status {status}" if status is not None else f"no answer within {_SECONDS:g} s"
        lines = said.read_text(errors="replace").strip().splitlines() or [ended]
    raise EnvironmentProblem(
        f"Triton {toolchain.release} cannot be asked by {toolchain.executable}: {lines[-1]}; "
        f"reinstall it with: {toolchain.executable} -m pip install --force-reinstall triton=={toolchain.release}"
    )


def _tables(toolchain: Toolchain, told: Mapping[str, Any]) -> Tables:
    targets = [_target(one) for one in told["targets"]]
    return Tables(
        toolchain,
        told["llvm"],
        told["amd_llvm"],
        {Path(tool["path"]).name: tool["version"] or "of unknown version" for tool in told["ptxas"]},
        {backend: tuple(functions) for backend, functions in told["libdevice"].items()},
        tuple(sorted(targets, key=lambda one: (one.target.backend, len(one.target.arch), one.target.arch))),
    )


def _target(told: Mapping[str, Any]) -> TargetTable:
    target = Target(told["target"][0], str(told["target"][1]))
    said = explain("", told["type"], told["text"], told["printed"], told["printed"])
    trouble = None if told["compiles"] else said.message
    return TargetTable(target, trouble, told["warp_size"], tuple(told["fp8"]), limits.table().get(target))

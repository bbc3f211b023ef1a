"""What this Triton supports, asked of it: targets, fp8 types, functions of libdevice, the tools that it runs.

An architecture is supported if a trivial kernel compiles for it, each in a fork, since some end the process. ptxas says
which ones there are for NVIDIA; nothing says it for AMD, so the tool names those to try.
"""

from __future__ import annotations

import importlib
import json
import mmap
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from . import inherit, linker, names, refused, releases, root
from .device import Device

_ARCH = re.compile(r"'sm_(\d+)'")
_RELEASE = re.compile(r"release [\d.]+, V([\d.]+)")
_LLVM = re.compile(rb"\b\d{2}\.\d+\.\d+git\b")
_ARCHES = range(50, 200)  # as far as one asks which ptxas is for it


def main(request: str, answer: str) -> None:
    """Read what to ask from the file `request`, and write the answers to the file `answer`, as JSON.

    The request has `package`, the folder of Triton; `digest`, that of its files; and `targets`, GPUTarget arguments
    of what to try beside that which ptxas lists. Raises whatever importing Triton raises.
    """
    with open(request) as f:
        asked = json.load(f)
    refused.take_out()
    with tempfile.TemporaryDirectory(prefix="portcheck-tables-") as scratch:
        os.environ["TRITON_CACHE_DIR"] = scratch
        with inherit.only(asked["package"]):
            fake = root.import_triton({"digest": asked["digest"], "prime": []}, names.Names(scratch))
        tools = _assemblers()
        targets = list(_targets(asked["targets"], tools))
        found = {
            "llvm": _llvm(),
            "amd_llvm": _amd_llvm(),
            "ptxas": [{"path": path, "version": tool["version"]} for path, tool in tools.items()],
            "libdevice": _libdevice(),
            "targets": [{**_options(target), **told} for target, told in zip(targets, _tried(targets, fake, scratch))],
        }
    with open(answer, "w") as f:
        json.dump(found, f)


def _assemblers() -> dict[str, dict[str, Any]]:
    """Path of a ptxas → its version, the architectures that it knows, and those that this Triton gives to it."""
    from triton.backends import backends

    values = backends["nvidia"].compiler.make_cubin.__globals__
    found: dict[str, dict[str, Any]] = {}
    for arch in _ARCHES:
        path = releases.current().ptxas(values, arch)
        if path not in found:
            version = _RELEASE.search(_said(path, "--version"))
            known = re.sub(r"\s", "", _said(path, "--help"))
            found[path] = {
                "version": version.group(1) if version else None,
                "knows": {int(number) for number in _ARCH.findall(known)},
                "arches": [],
            }
        if arch in found[path]["knows"]:
            found[path]["arches"].append(arch)
    return found


def _targets(named: Iterable[list[Any]], tools: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[Any, ...]]:
    listed = {("cuda", arch, 32): None for tool in tools.values() for arch in tool["arches"]}
    yield from dict.fromkeys([*listed, *map(tuple, named)])


def _options(target: tuple[Any, ...]) -> dict[str, Any]:
    """What the backend says of a target before anything is compiled."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler.compiler import make_backend

    try:
        options = make_backend(GPUTarget(*target)).parse_options({})
    except Exception:  # trying to compile says why
        options = None
    warp = getattr(options, "warp_size", None)
    return {"target": list(target), "warp_size": warp if isinstance(warp, int) else target[2], "fp8": _fp8(options)}


def _fp8(options: Any) -> list[str]:
    if options is None:
        return []
    if hasattr(options, "supported_fp8_dtypes"):
        return sorted(options.supported_fp8_dtypes)
    # Up to 3.1 there are flags for two types, and no word about others.
    return sorted(name[len("allow_") :] for name, on in vars(options).items() if name.startswith("allow_fp8") and on)


def _tried(targets: list[tuple[Any, ...]], fake: Device, scratch: str) -> list[dict[str, Any]]:
    """Whether each target compiles, in the same order; as many at a time as there are cores."""
    waiting = list(enumerate(targets))
    running: dict[int, int] = {}
    ended: dict[int, dict[str, Any]] = {}
    while waiting or running:
        while waiting and len(running) < (os.cpu_count() or 1):
            number, target = waiting.pop(0)
            running[_fork(target, fake, os.path.join(scratch, "%d" % number))] = number
        pid, status = os.wait()
        number = running.pop(pid)
        ended[number] = _outcome(os.path.join(scratch, "%d" % number), os.waitstatus_to_exitcode(status))
    return [ended[number] for number in range(len(targets))]


def _fork(target: tuple[Any, ...], fake: Device, place: str) -> int:
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        with open(place + ".out", "wb") as f:
            os.dup2(f.fileno(), 1)
            os.dup2(f.fileno(), 2)
        with open(place + ".json", "w") as f:
            json.dump(_try(target, fake), f)
        status = 0
    finally:
        os._exit(status)


def _try(target: tuple[Any, ...], fake: Device) -> dict[str, Any]:
    from triton.backends import backends
    from triton.backends.compiler import GPUTarget

    from . import prime

    wanted = GPUTarget(*target)
    fake.become(wanted, {})
    try:
        if target[0] == "hip":
            releases.current().without_torch(backends["amd"].compiler)
            if releases.current().runs_lld:
                linker.provide(backends["amd"].compiler, sys.modules["triton"].__version__)
        prime.compile_copy(wanted)
    except Exception as error:
        return {"type": type(error).__module__ + "." + type(error).__qualname__, "text": str(error)}
    return {"type": None, "text": ""}


def _outcome(place: str, status: int) -> dict[str, Any]:
    with open(place + ".out", errors="replace") as f:
        printed = f.read()
    try:
        with open(place + ".json") as f:
            said = json.load(f)
    except (OSError, ValueError):
        said = {"type": None, "text": "its process ended with status %d" % status}
    return {"compiles": status == 0 and said["type"] is None, "printed": printed[-100_000:], **said}


def _libdevice() -> dict[str, list[str]]:
    """Backend → the functions of its libdevice."""
    found: dict[str, list[str]] = {}
    for backend in ("cuda", "hip"):
        try:
            module = importlib.import_module("triton.language.extra.%s.libdevice" % backend)
        except ImportError:
            found[backend] = []
            continue
        found[backend] = sorted(
            name
            for name, value in vars(module).items()
            if not name.startswith("_") and callable(value) and getattr(value, "__module__", "") == module.__name__
        )
    return found


def _llvm() -> str | None:
    """The version of LLVM; it stands in the library, and no function tells it."""
    path = getattr(importlib.import_module("triton._C.libtriton"), "__file__", None)
    if not path:
        return None
    with open(path, "rb") as f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as library:
        found = _LLVM.search(library)
        return found.group().decode() if found else None


def _amd_llvm() -> str | None:
    """The revision of the LLVM that is for AMD only, where there is one: from 3.9 on."""
    from triton.backends import backends

    values = sys.modules[backends["amd"].compiler.__module__].__dict__ if "amd" in backends else {}
    revision = values.get("get_amd_codegen_revision")
    return str(revision()) if revision else None


def _said(*command: str) -> str:
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout + done.stderr

"""What portcheck is measured against: plain Triton on the same cells.

yardstick.py floor                         every cell of the demo, compiled once in one warm process; prints the CPU
                                           seconds of that
yardstick.py naive                         one fresh interpreter per cell, two at a time
yardstick.py cell ROW TARGET               one cell of the demo, by numbers
yardstick.py rows MANIFEST PACKAGE TARGET  the rows of a package, launched as on a target in one warm process; prints
                                           the CPU seconds of starting and importing, and those of compiling
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import subprocess
import sys
import tempfile
import tomllib
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import portcheck.demo
from portcheck.compiler.child.device import Device, install
from portcheck.compiler.devices import properties
from portcheck.target import parse_target

_DTYPES = {"fp32": "float32", "int32": "int32"}
_DEVICE = Device()


def floor() -> float:
    """CPU seconds of compiling every cell of the demo in this process, which has compiled for each target before."""
    install(_DEVICE)
    kernels, targets = _demo()
    for target in targets:
        _compile(kernels[0], target)
    os.environ["TRITON_ALWAYS_COMPILE"] = "1"
    before = os.times()
    for kernel in kernels:
        for target in targets:
            _compile(kernel, target)
    return sum(os.times()[:4]) - sum(before[:4])


def naive() -> None:
    """Compile every cell of the demo in an interpreter of its own."""
    kernels, targets = _demo()
    cells = [(str(i), str(j)) for i in range(len(kernels)) for j in range(len(targets))]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda cell: subprocess.run([sys.executable, __file__, "cell", *cell], check=True), cells))


def cell(row: str, target: str) -> None:
    """Compile one cell of the demo."""
    install(_DEVICE)
    kernels, targets = _demo()
    _compile(kernels[int(row)], targets[int(target)])


def rows(manifest: str, package: str, target: str) -> str:
    """CPU seconds of starting and importing, and of compiling the rows of a package once as on `target`."""
    kernels = [k for k in tomllib.loads(Path(manifest).read_text())["kernel"] if k["target"].startswith(f"{package}.")]
    install(_DEVICE)
    _become(target)
    functions = [_function(kernel["target"]) for kernel in kernels]
    imported = sum(os.times()[:4])
    _compile(_demo()[0][0], target)  # what the first compile for a target sets up
    before = sum(os.times()[:4])
    for function, kernel in zip(functions, kernels, strict=True):
        function.warmup(*_arguments(function, kernel), grid=(1, 1, 1), **kernel.get("options", {}))
    return f"{imported} {sum(os.times()[:4]) - before}"


def _function(reference: str) -> Any:
    module, _, name = reference.partition(":")
    found = getattr(importlib.import_module(module), name)
    while not hasattr(found, "params"):  # autotuned, or with heuristics: the rows say what these would choose
        found = found.fn
    return found


def _arguments(function: Any, kernel: dict[str, Any]) -> list[Any]:
    """What a launch would pass: tensors that are not there, integers that are divisible by 16 or not."""
    return [
        _constant(kernel["constants"][p.name]) if p.name in kernel["constants"] else _argument(kernel["signature"], p)
        for p in function.params
    ]


def _argument(signature: dict[str, str], parameter: Any) -> Any:
    from triton.runtime.jit import MockTensor

    kind, _, aligned = signature.get(parameter.name, "").partition(":")
    if not kind:
        return parameter.default
    if kind.startswith("*"):
        return MockTensor(_dtype(kind[1:]))
    return 1.5 if kind.startswith("fp") else 16 if aligned else 17


def _constant(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return (
        _dtype(value["dtype"]) if "dtype" in value else _constant(value["constexpr"]) if "constexpr" in value else None
    )


def _dtype(name: str) -> Any:
    import triton.language as tl

    return tl.dtype(name.replace("i", "int") if name[0] == "i" and name[1].isdigit() else name)


def _demo() -> tuple[list[dict[str, Any]], list[str]]:
    """The demo's rows, variants with what they share filled in, and its targets."""
    manifest = tomllib.loads(portcheck.demo.MANIFEST.read_text())
    found = []
    for kernel in manifest["kernel"]:
        for variant in kernel.get("variant", [{}]):
            merged = {part: {**kernel.get(part, {}), **variant.get(part, {})} for part in ("signature", "constants")}
            found.append({"function": kernel["target"].rpartition(":")[2], **merged})
    return found, manifest["defaults"]["targets"]


def _compile(row: dict[str, Any], target: str) -> None:
    import triton
    import triton.language as tl
    from triton.compiler import ASTSource

    from portcheck.demo import kernels

    gpu = _become(target)
    constants = {n: getattr(tl, _DTYPES[v["dtype"]]) if isinstance(v, dict) else v for n, v in row["constants"].items()}
    signature = {**row["signature"], **dict.fromkeys(constants, "constexpr")}
    fn = getattr(kernels, row["function"])
    # Eighteen cells fail on purpose; Triton prints their code.
    with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
        triton.compile(ASTSource(fn=fn, signature=signature, constexprs=constants), target=gpu)


def _become(target: str) -> Any:
    """Stand for a target; returns it as Triton has it."""
    from triton.backends.compiler import GPUTarget

    meant = parse_target(target)
    gpu = GPUTarget(meant.backend, int(meant.arch) if meant.arch.isdigit() else meant.arch, meant.warp_size)
    _DEVICE.become(gpu, properties(meant))
    return gpu


_COMMANDS: dict[str, Callable[..., object]] = {"floor": floor, "naive": naive, "cell": cell, "rows": rows}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    command, *arguments = sys.argv[1:]
    with tempfile.TemporaryDirectory() as cache:
        os.environ["TRITON_CACHE_DIR"] = cache
        answer = _COMMANDS[command](*arguments)
    if answer is not None:
        print(f"\n{answer}")

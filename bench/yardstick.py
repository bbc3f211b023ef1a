"""What portcheck is measured against: plain Triton on the demo's cells, and plain imports.

yardstick.py floor               every cell compiled once in one warm process; prints the CPU seconds of that
yardstick.py naive               one fresh interpreter per cell, two at a time
yardstick.py cell ROW TARGET     one cell, by its number in the list of either
yardstick.py imports TARGET MODULE…   modules with kernels, as on that target
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
from typing import Any

import portcheck.demo

_DTYPES = {"fp32": "float32", "int32": "int32"}


class _Driver:
    """Answers for a target, as far as compiling and importing kernels ask."""

    def __init__(self, target: Any) -> None:
        self._target = target

    def get_current_target(self) -> Any:
        return self._target

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: object = None) -> int:
        return 0

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cuda", 0)

    def get_device_interface(self) -> Any:
        import torch

        return torch.cuda


def floor() -> float:
    """CPU seconds of compiling every cell of the demo in this process, which has compiled for each target before."""
    rows, targets = _demo()
    for target in targets:
        _compile(rows[0], target)
    os.environ["TRITON_ALWAYS_COMPILE"] = "1"
    before = os.times()
    for row in rows:
        for target in targets:
            _compile(row, target)
    return sum(os.times()[:4]) - sum(before[:4])


def naive() -> None:
    """Compile every cell of the demo in an interpreter of its own."""
    rows, targets = _demo()
    cells = [(str(i), str(j)) for i in range(len(rows)) for j in range(len(targets))]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda cell: subprocess.run([sys.executable, __file__, "cell", *cell], check=True), cells))


def cell(row: str, target: str) -> None:
    """Compile one cell of the demo."""
    rows, targets = _demo()
    _compile(rows[int(row)], targets[int(target)])


def imports(target: str, *modules: str) -> None:
    """Import modules as on a target."""
    from triton.runtime.driver import driver

    driver.set_active(_Driver(_gpu(target)))
    for module in modules:
        importlib.import_module(module)


def _demo() -> tuple[list[dict[str, Any]], list[str]]:
    """The demo's rows, variants with what they share filled in, and its targets."""
    manifest = tomllib.loads(portcheck.demo.MANIFEST.read_text())
    rows = []
    for kernel in manifest["kernel"]:
        for variant in kernel.get("variant", [{}]):
            merged = {part: {**kernel.get(part, {}), **variant.get(part, {})} for part in ("signature", "constants")}
            rows.append({"function": kernel["target"].rpartition(":")[2], **merged})
    return rows, manifest["defaults"]["targets"]


def _compile(row: dict[str, Any], target: str) -> None:
    import triton
    import triton.language as tl
    from triton.compiler import ASTSource
    from triton.runtime.driver import driver

    from portcheck.demo import kernels

    gpu = _gpu(target)
    driver.set_active(_Driver(gpu))
    constants = {n: getattr(tl, _DTYPES[v["dtype"]]) if isinstance(v, dict) else v for n, v in row["constants"].items()}
    signature = {**row["signature"], **dict.fromkeys(constants, "constexpr")}
    fn = getattr(kernels, row["function"])
    # Eighteen cells fail on purpose; Triton prints their code.
    with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
        triton.compile(ASTSource(fn=fn, signature=signature, constexprs=constants), target=gpu)


def _gpu(target: str) -> Any:
    from triton.backends.compiler import GPUTarget

    backend, arch = target.split(":")
    is_wide = arch.startswith("gfx9")
    return GPUTarget(backend, int(arch) if arch.isdigit() else arch, 64 if is_wide else 32)


_COMMANDS: dict[str, Callable[..., float | None]] = {"floor": floor, "naive": naive, "cell": cell, "imports": imports}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    command, *arguments = sys.argv[1:]
    with tempfile.TemporaryDirectory() as cache:
        os.environ["TRITON_CACHE_DIR"] = cache
        answer = _COMMANDS[command](*arguments)
    if answer is not None:
        print(f"\n{answer}")

"""Launch the kernels of cases/portcheck.toml by Triton's own interface, in a process that never saw portcheck.

Usage: launches.py BACKEND ARCH CASES_FOLDER OUT_FOLDER. Writes OUT_FOLDER/ROW for each row: its cubin or hsaco.
"""

from __future__ import annotations

import gc
import importlib.util
import pathlib
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.runtime.driver import driver
from triton.runtime.jit import JITCallable
from triton.tools.tensor_descriptor import TensorDescriptor


class Tensor:
    """A tensor as far as a launch looks at it."""

    class DType(str):
        itemsize = 2

    def __init__(self, dtype: str, *, aligned: bool = True, gib: int = 1) -> None:
        self.dtype = self.DType(dtype)
        self._address = 4096 if aligned else 4100
        self._bytes = gib << 30

    def data_ptr(self) -> int:
        return self._address

    def ptr_range(self) -> int:
        return self._bytes


class Driver:
    """A device without a device."""

    def __init__(self, target: GPUTarget) -> None:
        self.target = target

    def get_current_target(self) -> GPUTarget:
        return self.target

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int) -> int:
        return 0


def tensor(dtype: str) -> Tensor:
    """A tensor that is not aligned to 16 bytes."""
    return Tensor(dtype, aligned=False)


def descriptor() -> TensorDescriptor:
    """Rows of 64 halves."""
    return TensorDescriptor(Tensor("fp16"), [4096, 64], [64, 1], [64, 64])


F16 = Tensor("fp16")
# row → (file, kernel, arguments, constants, options)
LAUNCHES = {
    "attention": (
        *("attention_fwd.py", "attn", (F16, F16, F16, F16, 33, 0.125), {"BM": 64, "BN": 64, "D": 64}),
        {"num_stages": 2, "num_warps": 4},
    ),
    "dot": (
        *("dot_shapes_types.py", "tile_dot", (tensor("fp32"), Tensor("fp32"), Tensor("fp32", gib=3))),
        {"M": 32, "N": 32, "K": 32, "OUT": tl.float32, "PREC": None},
        {"waves_per_eu": 2} if sys.argv[1] == "hip" else {},
    ),
    "scan": (
        *("scan_sort_hist.py", "linear_rec", (Tensor("fp32", aligned=False, gib=3), Tensor("fp32")), {"N": 256}),
        {},
    ),
    "cumsum": ("scan_sort_hist.py", "prefix_rev_2d", (tensor("bf16"), tensor("bf16")), {"N": 64}, {}),
    "atomics": (
        *("atomics_lowprec.py", "accumulate", (tensor("bf16"), tensor("bf16"), 1 << 40), {"BLOCK": 256}),
        {},
    ),
    "asserts": (
        *("asm_and_intrinsics.py", "checked", (tensor("fp32"), tensor("fp32")), {"BLOCK": 256}),
        {"debug": True},
    ),
    "descriptors": ("host_descriptor.py", "copy_tile", (descriptor(), descriptor(), 4097), {"BM": 64, "BN": 64}, {}),
    "gluon[32]": ("gluon_basic.py", "scale", (Tensor("fp32"), 511), {"N": 512, "LANES": 32}, {}),
    "gluon[64]": ("gluon_basic.py", "scale", (Tensor("fp32"), 511), {"N": 512, "LANES": 64}, {}),
}


def load(path: pathlib.Path) -> object:
    """Import a file, and give its functions the debug paths that portcheck gives them."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    site = str(pathlib.Path(triton.__file__).parents[1])
    for function in gc.get_objects():
        if isinstance(function, JITCallable) and pathlib.Path(function.file_name).is_absolute():
            name = function.file_name
            function.file_name = name.replace(site, "dist") if name.startswith(site) else pathlib.Path(name).name
    return module


def main() -> None:
    """Launch every kernel that this target takes."""
    backend, arch, cases, out = sys.argv[1:]
    driver.set_active(Driver(GPUTarget(backend, int(arch) if arch.isdigit() else arch, 64 if backend == "hip" else 32)))
    skipped = "gluon[32]" if backend == "hip" else "gluon[64]"
    for row, (file, name, arguments, constants, options) in LAUNCHES.items():
        if row != skipped:
            kernel = getattr(load(pathlib.Path(cases, file)), name)
            compiled = kernel.warmup(*arguments, **constants, **options, grid=(1,))
            pathlib.Path(out, row).write_bytes(compiled.asm["hsaco" if backend == "hip" else "cubin"])


main()

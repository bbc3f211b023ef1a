"""What Triton's own binder makes of the arguments of launches: JSON on fd 1, for one target, without portcheck.

Usage: launch_attributes.py BACKEND ARCH KERNELS_FILE. Triton's hook before a compile sees the signature and the
attributes, and stops there.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from typing import Any

import triton
from triton.backends.compiler import GPUTarget
from triton.runtime.driver import driver
from triton.tools.tensor_descriptor import TensorDescriptor


class Tensor:
    """A tensor as far as a launch looks at it; `shift` is how far its address is from a multiple of 4096."""

    class DType(str):
        itemsize = 2

    def __init__(self, dtype: str, shift: int = 0, gib: int = 1) -> None:
        self.dtype, self._shift, self._gib = self.DType(dtype), shift, gib

    def data_ptr(self) -> int:
        return 4096 * 77 + self._shift

    def ptr_range(self) -> int:
        return self._gib << 30


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


# What the kernel of that name in KERNELS_FILE is launched with.
LAUNCHES: dict[str, tuple[str, list[Any]]] = {
    "aligned pointer": ("plain", [Tensor("fp32")]),
    "unaligned pointer": ("plain", [Tensor("fp32", shift=4)]),
    "aligned pointer to more than 2 GiB": ("plain", [Tensor("fp32", gib=3)]),
    "unaligned pointer to more than 2 GiB": ("plain", [Tensor("bf16", shift=2, gib=3)]),
    "pointer to constants": ("constant_memory", [Tensor("i8", shift=1)]),
    "fp8 pointer": ("plain", [Tensor("fp8e4nv")]),
    "i32": ("plain", [33]),
    "i32 divisible by 16": ("plain", [1024]),
    "i64": ("plain", [(1 << 40) + 3]),
    "i64 divisible by 16": ("plain", [1 << 40]),
    "u64": ("plain", [(1 << 63) + 5]),
    "negative i32": ("plain", [-3]),
    "bool": ("plain", [True]),
    "float": ("plain", [2.5]),
    "none": ("plain", [None]),
    "tuple": ("plain", [(Tensor("fp16"), 7, 1024)]),
    "tuple with a constant": ("plain", [(Tensor("fp16", shift=2), 1)]),
    "descriptor": ("plain", [TensorDescriptor(Tensor("fp16"), [256, 64], [64, 1], [64, 64])]),
    "i32 for an i64 parameter": ("annotated_i64", [33]),
    "i16 by annotation, divisible": ("annotated_i16", [32]),
    "fp16 by annotation": ("annotated_fp16", [0.25]),
    "not specialised": ("not_specialised", [1024]),
    "not specialised on alignment": ("not_specialised_on_alignment", [Tensor("fp32")]),
    "constant parameter": ("constant", [Tensor("fp32"), 64]),
    "default": ("with_default", [Tensor("fp32", shift=4)]),
}


def main() -> None:
    """Launch everything, and print what the hook saw."""
    backend, arch, file = sys.argv[1:]
    driver.set_active(Driver(GPUTarget(backend, int(arch) if arch.isdigit() else arch, 64 if backend == "hip" else 32)))
    seen: list[Any] = []

    def stop(*, compile: dict[str, Any], **_: Any) -> bool:  # noqa: A002 - Triton's name
        (attributes,) = compile["configs"]
        seen.append([compile["signature"], sorted([list(path), values] for path, values in attributes.items())])
        return True

    triton.knobs.runtime.jit_cache_hook = stop
    spec = importlib.util.spec_from_file_location("kernels", file)
    assert spec is not None and spec.loader is not None
    kernels = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(kernels)
    for name, arguments in LAUNCHES.values():
        getattr(kernels, name).warmup(*arguments, grid=(1,))
    print(json.dumps(dict(zip(LAUNCHES, seen, strict=True))))


main()

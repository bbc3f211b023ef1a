"""The devices that the fake driver pretends to be: one row an architecture, from the vendors' published figures.

A row answers what user code asks at import (`torch.cuda.get_device_properties`, `driver.active.utils`). Shared memory
is the opt-in limit per block. NVIDIA: CUDA C++ Programming Guide, "Compute Capabilities"; AMD: ROCm's GPU hardware
specifications. Architectures without a row get their capability right and the figures of the nearest older one.
"""

from __future__ import annotations

from typing import Any

from portcheck.target import Target

# arch → (name, multiprocessors, shared memory in bytes, memory in GiB, L2 in MiB)
_CUDA: dict[int, tuple[str, int, int, int, int]] = {
    50: ("NVIDIA GeForce GTX 750 Ti", 5, 49152, 2, 2),
    60: ("Tesla P100-SXM2-16GB", 56, 49152, 16, 4),
    70: ("Tesla V100-SXM2-16GB", 80, 98304, 16, 6),
    75: ("Tesla T4", 40, 65536, 15, 4),
    80: ("NVIDIA A100-SXM4-80GB", 108, 166912, 80, 40),
    86: ("NVIDIA A10G", 80, 101376, 24, 6),
    87: ("Orin", 16, 166912, 32, 4),
    89: ("NVIDIA L40S", 142, 101376, 48, 96),
    90: ("NVIDIA H100 80GB HBM3", 132, 232448, 80, 50),
    100: ("NVIDIA B200", 148, 232448, 180, 126),
    103: ("NVIDIA B300", 148, 232448, 270, 126),
    110: ("NVIDIA Thor", 20, 232448, 128, 32),
    120: ("NVIDIA GeForce RTX 5090", 170, 101376, 32, 96),
    121: ("NVIDIA GB10", 48, 101376, 119, 24),
}
_HIP: dict[str, tuple[str, int, int, int, int]] = {
    "gfx906": ("AMD Radeon VII", 60, 65536, 16, 4),
    "gfx908": ("AMD Instinct MI100", 120, 65536, 32, 8),
    "gfx90a": ("AMD Instinct MI250X", 110, 65536, 64, 8),
    "gfx942": ("AMD Instinct MI300X", 304, 65536, 192, 4),
    "gfx950": ("AMD Instinct MI355X", 256, 163840, 288, 4),
    "gfx1030": ("AMD Radeon RX 6900 XT", 40, 65536, 16, 4),
    "gfx1100": ("AMD Radeon RX 7900 XTX", 48, 65536, 24, 6),
    "gfx1201": ("AMD Radeon RX 9070 XT", 32, 65536, 16, 8),
    "gfx1250": ("AMD gfx1250", 256, 327680, 288, 4),
}


def known() -> list[Target]:
    """The targets that have a row."""
    return [*(Target("cuda", str(arch)) for arch in _CUDA), *(Target("hip", arch) for arch in _HIP)]


def properties(target: Target) -> dict[str, Any]:
    """What the fake device answers for `target`, as plain data. Part of the keys, since code may depend on it."""
    if target.backend == "cuda":
        arch = int(target.arch)
        name, units, shared, memory, l2 = _CUDA[max((a for a in _CUDA if a <= arch), default=50)]
        name = name if arch in _CUDA else f"NVIDIA GPU (sm_{arch})"
        capability = [arch // 10, arch % 10]
    else:
        name, units, shared, memory, l2 = _HIP.get(target.arch, (f"AMD {target.arch}", 60, 65536, 16, 4))
        digits = target.arch.removeprefix("gfx")
        capability = [int(digits[:-2]), int(digits[-2], 16)]  # gfx942 is (9, 4), as torch reports it
    return {
        "name": name,
        "capability": capability,
        "multiprocessors": units,
        "shared_memory": shared,
        "memory": memory << 30,
        "l2": l2 << 20,
        "registers": 65536,
        "clock_khz": 1_500_000,
    }

"""What every report says about itself: what a green cell does not prove."""

from __future__ import annotations

NOTE = (
    "Compile-only check: a green cell means that Triton compiled the kernel for the target. It does not prove that "
    "numerical results are right, that the kernel is fast, or that the driver on the device loads and runs it."
)

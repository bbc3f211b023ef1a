"""The demo's 81 cells: cold and warm, and how long the command takes to say what it can do."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from bench import measure, yardstick
from bench.figures import Figure

_YARDSTICK = [sys.executable, yardstick.__file__]


def figures(scratch: Path, repeat: int) -> Iterator[Figure]:
    """Measure `repeat` times, the tool and its yardsticks by turns."""
    cold, warm, said, floor = [], [], [], []
    for turn in range(repeat):
        cache = scratch / f"demo{turn}"
        floor.append(float(measure.run([*_YARDSTICK, "floor"]).out.split()[-1]))
        cold.append(measure.portcheck("check", "--demo", "-j2", cache=cache).cpu)
        warm.append(measure.portcheck("check", "--demo", "-j2", cache=cache).cpu)
        said.append(measure.portcheck("--help", cache=cache).cpu)
    naive = measure.run([*_YARDSTICK, "naive"]).cpu
    ratio = median(ours / theirs for ours, theirs in zip(cold, floor, strict=True))
    yield Figure(
        "cold demo to one warm process", ratio, "×", 1.75, detail=f"{median(cold):.2f} s to {median(floor):.2f} s"
    )
    yield Figure(
        "an interpreter per cell to cold demo", naive / median(cold), "×", 6, is_floor=True, detail=f"{naive:.1f} s"
    )
    yield Figure("warm demo", median(warm), "s", 0.5)
    yield Figure("portcheck --help", median(said), "s", 0.15)

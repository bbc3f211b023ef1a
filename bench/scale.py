"""Many cells whose verdicts are all recorded."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from bench import measure, scaled
from bench.figures import Figure

# cells → the most CPU seconds, and the most memory in MB
_LIMITS = {10_000: (3.0, 250.0), 100_000: (20.0, 1000.0)}


def figures(scratch: Path, repeat: int, cells: int) -> Iterator[Figure]:
    """Record `cells` verdicts, and read them all, `repeat` times."""
    folder = scratch / str(cells)
    measure.run([sys.executable, scaled.__file__, "seed", str(folder), str(cells)])
    runs = [measure.portcheck("check", folder / "portcheck.toml", "-j2", cache=folder / "cache") for _ in range(repeat)]
    seconds, megabytes = _LIMITS[cells]
    yield Figure(f"{cells:,} warm cells", median(run.cpu for run in runs), "s", seconds)
    yield Figure(f"{cells:,} warm cells, memory", median(run.peak for run in runs) / 1e6, "MB", megabytes)

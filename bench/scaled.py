"""A suite of many cells whose verdicts are all recorded: what a warm run costs by itself.

`scaled.py seed FOLDER CELLS` writes a manifest and fills a cache for it: one cell is compiled, and its outcome is filed
under the keys of all others, which differ in a constant. Nobody would wait for 100,000 real ones.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from portcheck.cells import Cell
from portcheck.compiler.outcome import Compiled
from portcheck.filing import Finished
from portcheck.rules.request import Request
from portcheck.rules.run import Run

TARGETS = [f"cuda:{arch}" for arch in (75, 80, 86, 89, 90, 100, 120)] + ["hip:gfx942", "hip:gfx950", "hip:gfx1100"]
KERNEL = """
import triton
import triton.language as tl

@triton.jit
def copy(x_ptr, y_ptr, n, TAG: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at, mask=at < n) + TAG, mask=at < n)
"""
ROW = """
[[kernel]]
name = "copy{tag}"
target = "kernels.py:copy"
signature = {{ x_ptr = "*fp32:16", y_ptr = "*fp32:16", n = "i32" }}
constants = {{ TAG = {tag}, BLOCK = 256 }}
"""


def seed(folder: Path, cells: int) -> None:
    """Write the suite and fill its cache."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kernels.py").write_text(KERNEL)
    rows = "".join(ROW.format(tag=tag) for tag in range(cells // len(TARGETS)))
    (folder / "portcheck.toml").write_text(f"[defaults]\ntargets = {TARGETS}\n{rows}")
    os.environ["PORTCHECK_CACHE"] = str(folder / "cache")
    subprocess.run([sys.executable, "-m", "portcheck", "check", "-q", "-k", "copy0"], cwd=folder, check=True)
    run = Run(Request(folder / "portcheck.toml", quiet=True))
    run.prepare()
    first = next(iter(run.known.values()))
    for cell in run.cells.values():
        if cell.name not in run.known:
            _file(run, cell, first.outcome.seconds)
    run.close()


def _file(run: Run, cell: Cell, seconds: float) -> None:
    judge = run.workshop.judge(cell)
    resolution = judge._resolution(cell, importing=False)
    assert resolution is not None
    front = {"ttir": f"{cell.name}", "located": cell.name, "options": {}, "settings": {}}
    compiled = Compiled(None, seconds, {"ttir": 0.01}, {"shared": 0, "registers": 16}, {"ptx": cell.name.encode() * 50})
    judge._filing.put(judge._keys.of(cell, resolution), Finished(front, compiled, (), True), cell.row.settings)


if __name__ == "__main__":
    seed(Path(sys.argv[2]), int(sys.argv[3]))

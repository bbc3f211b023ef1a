"""`python -m bench.run`: measure, print the table, write docs/benchmarks.md and its plot."""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench import demo, edited, real, scale
from bench.figures import Figure, plot, table
from portcheck.toolchain.find import release_of

_DOCS = Path(__file__).resolve().parent.parent / "docs"
_PAGE = """# Benchmarks

Written by `doit bench`. Seconds are CPU seconds, user and system, of the tool and of every process that it starts,
with two jobs; each ratio is to a yardstick that was measured in the same run, by turns. {turns} Measured with
Python {python} and Triton {triton} on {cores} cores of {machine}.

{table}

![how much of its limit each figure uses up](benchmarks.svg)

- *One warm process* compiles the demo's 81 cells one after the other, after it has compiled for each target once:
  what Triton takes by itself. *An interpreter per cell* is what a shell script would do.
- *Warm* runs find every verdict recorded. The thousands of cells are rows of one kernel that differ in a constant.
- *Locals renamed* is what the front ends cost after every local variable of ten kernels got another name and nothing
  else: the compiled results are known. The comparison is with compiling them. Starting Triton and importing the kernels
  is taken off both; a run after a comment was written into every file says how much that is.
- *Compiles and imports* is a fresh process for each library and target, which imports the library, and then compiles
  its rows one after the other, after it has compiled for the target once: what Triton takes by itself.

`doit bench --large` adds 100,000 cells. The rows of FLA and Liger are there where both libraries can be imported.
"""


def main() -> int:
    """Measure what the command line asks for; 0 whatever comes out."""
    parser = argparse.ArgumentParser(prog="bench", description="Measure portcheck against its yardsticks.")
    parser.add_argument("--repeat", type=int, default=3, help="turns of the short runs (default: %(default)s)")
    parser.add_argument("--large", action="store_true", help="100,000 cells, too")
    arguments = parser.parse_args()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="portcheck-bench-") as folder:
        figures = []
        for figure in _measured(Path(folder).resolve(), arguments.repeat, arguments.large):
            print(f"{figure.name}: {figure.value:.2f} {figure.unit}", flush=True)
            figures.append(figure)
    written = table(figures) + _warning(load)
    print(f"\n{written}")
    page = _PAGE.format(
        turns=f"Short runs are medians of {arguments.repeat}.",
        python=platform.python_version(),
        triton=release_of("current"),
        cores=os.cpu_count(),
        machine=_processor(),
        table=written,
    )
    (_DOCS / "benchmarks.md").write_text(page, encoding="utf-8")
    (_DOCS / "benchmarks.svg").write_text(plot(figures), encoding="utf-8")
    return 0


def _measured(scratch: Path, repeat: int, large: bool) -> Iterator[Figure]:
    yield from demo.figures(scratch, repeat)
    yield from scale.figures(scratch, repeat, 10_000)
    if large:
        yield from scale.figures(scratch, 1, 100_000)
    yield from edited.figures(scratch)
    if real.is_possible():
        yield from real.figures(scratch)


def _warning(load: float) -> str:
    cores = os.cpu_count() or 1
    if load <= cores / 2:
        return ""
    return (
        f"\n\nThe machine was busy with other work (load {load:.1f} on {cores} cores at the start): trust only ratios."
    )


def _processor() -> str:
    names = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return names[0].partition(":")[2].strip() if names else platform.machine()


if __name__ == "__main__":
    raise SystemExit(main())

"""Ten kernels after an edit that changes no result: front ends run, and nothing compiles."""

from __future__ import annotations

import json
import shutil
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from bench import measure
from bench.figures import Figure
from bench.rename import rename_locals

_SUITE = Path(__file__).parent / "suite"


def figures(scratch: Path) -> Iterator[Figure]:
    """Compile the suite, rename its locals, check it again."""
    folder = Path(shutil.copytree(_SUITE, scratch / "edited"))
    names = {row["name"] for row in tomllib.loads((folder / "portcheck.toml").read_text())["kernel"]}
    files = {folder / "kernels.py": names}
    yield compare("ten kernels, locals renamed", folder / "portcheck.toml", files, scratch / "edited-cache")


def compare(
    name: str,
    manifest: Path,
    files: Mapping[Path, set[str]],
    cache: Path,
    rows: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
) -> Figure:
    """What the front ends cost after renaming locals, to compiling. `files`: path → functions to edit there.

    A run after a comment was written into every file says what is not either: starting, and importing anew.

    Raises:
        RuntimeError: something was compiled again.
    """
    report = cache.with_suffix(".json")
    arguments: list[str | Path] = [
        *("check", manifest, "-j2", "--json", report),
        *(word for row in rows for word in ("-k", row)),
    ]

    def cost(origin: str) -> float:
        cpu = measure.portcheck(*arguments, cache=cache, env=env).cpu
        summary = json.loads(report.read_text())["summary"]
        if summary[origin] != summary["cells"]:
            raise RuntimeError(f"{name}: only {summary[origin]} cells of {summary['cells']} are {origin}: {summary}")
        return cpu

    compiled = cost("compiled")
    for path in files:
        path.write_text(f"# a comment\n{path.read_text()}")
    imported = cost("cached")
    for path, functions in files.items():
        rename_locals(path, functions)
    cut_off = cost("cutoff")
    front_ends, compiles = cut_off - imported, compiled - imported
    detail = f"{front_ends:.1f} s to {compiles:.1f} s, beside {imported:.1f} s of starting and importing"
    return Figure(name, front_ends / compiles, "×", 0.2, detail=detail)

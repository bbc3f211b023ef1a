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
    """What the run after renaming locals costs, to the run that compiled. `files`: path → functions to edit there.

    Raises:
        RuntimeError: something was compiled again.
    """
    report = cache.with_suffix(".json")
    arguments: list[str | Path] = [
        "check",
        manifest,
        "-j2",
        "--json",
        report,
        *(word for row in rows for word in ("-k", row)),
    ]
    cold = measure.portcheck(*arguments, cache=cache, env=env)
    for path, functions in files.items():
        rename_locals(path, functions)
    edited = measure.portcheck(*arguments, cache=cache, env=env)
    summary = json.loads(report.read_text())["summary"]
    if summary["cutoff"] != summary["cells"]:
        raise RuntimeError(f"{name}: {summary['cutoff']} of {summary['cells']} cells were cut off: {summary}")
    detail = f"{edited.cpu:.1f} s to {cold.cpu:.1f} s, {summary['cells']} cells cut off"
    return Figure(name, edited.cpu / cold.cpu, "×", 0.2, detail=detail)

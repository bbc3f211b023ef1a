"""Kernels of two libraries, where these are installed: FLA and Liger."""

from __future__ import annotations

import importlib.util
import shutil
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from bench import edited, measure, yardstick
from bench.figures import Figure

_MANIFEST = Path(__file__).parent / "real.toml"
_PACKAGES = ("fla", "liger_kernel")


def is_possible() -> bool:
    """Can the libraries be imported here?"""
    return all(importlib.util.find_spec(package) for package in _PACKAGES)


def figures(scratch: Path) -> Iterator[Figure]:
    """Compile everything; then edit the kernels of FLA."""
    yield _cold(scratch)
    yield _renamed(scratch)


def _cold(scratch: Path) -> Figure:
    """To an import a package and target, and its rows compiled one after the other in that warm process."""
    targets = tomllib.loads(_MANIFEST.read_text())["defaults"]["targets"]
    parts = [_in_one_process(package, target) for package in _PACKAGES for target in targets]
    imports, compiles = (sum(part) for part in zip(*parts, strict=True))
    cold = measure.portcheck("check", _MANIFEST, "-j2", cache=scratch / "real").cpu
    detail = f"{cold:.1f} s to {compiles:.1f} s and {imports:.1f} s of imports"
    return Figure("FLA and Liger, cold, to compiles and imports", cold / (compiles + imports), "×", 1.15, detail=detail)


def _in_one_process(package: str, target: str) -> tuple[float, float]:
    """CPU seconds of importing a package's modules as on a target, and of compiling its rows then."""
    command = [sys.executable, yardstick.__file__, "rows", str(_MANIFEST), package, target]
    imports, compiles = measure.run(command).out.split()[-2:]
    return float(imports), float(compiles)


def _renamed(scratch: Path) -> Figure:
    """A copy of FLA is what is edited."""
    folder = scratch / "site"
    origin = Path(str(importlib.util.find_spec("fla").origin)).parent  # type: ignore[union-attr]
    shutil.copytree(origin, folder / "fla", ignore=shutil.ignore_patterns("__pycache__"))
    files: defaultdict[Path, set[str]] = defaultdict(set)
    rows = {name: target for name, target in _rows() if target.startswith("fla.")}
    for target in rows.values():
        module, function = target.split(":")
        files[folder.joinpath(*module.split(".")).with_suffix(".py")].add(function)
    env = {"PYTHONPATH": str(folder)}
    return edited.compare(
        "ten FLA kernels, locals renamed", _MANIFEST, files, scratch / "renamed-cache", list(rows), env
    )


def _rows() -> Iterator[tuple[str, str]]:
    for row in tomllib.loads(_MANIFEST.read_text())["kernel"]:
        yield row["name"], row["target"]

"""Who may import whom: the arrows of docs/architecture.md, read from the sources."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
COMMAND = ("portcheck/cli", "portcheck/__main__.py")  # stands above everything
CHILD = "portcheck/compiler/child"  # runs beside Triton, on its own

# folders → what of ours they never import
FORBIDDEN = {
    "cache": ("portcheck",),
    "portcheck": ("portcheck.rules", "portcheck.cli"),
    "portcheck/diagnose": ("portcheck.compiler", "portcheck.report", "portcheck.toolchain", "portcheck.cache"),
    "portcheck/manifest": ("portcheck.compiler", "portcheck.report", "portcheck.toolchain", "portcheck.cache"),
    CHILD: ("portcheck", "msgpack", "xxhash", "psutil", "rich", "doit"),
    "rules": ("portcheck.cli",),
}
ALLOWED = {"cache": "portcheck.cache"}


def imported(source: Path) -> Iterator[str]:
    """The modules that a source names absolutely, wherever in it: a function's import is an arrow, too."""
    for node in ast.walk(ast.parse(source.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield from (f"{node.module}.{name.name}" for name in node.names)


def is_in(module: str, package: str) -> bool:
    return f"{module}.".startswith(f"{package}.")


@pytest.mark.parametrize("folder", FORBIDDEN)
def test_arrows_point_one_way(folder: str) -> None:
    sources = [
        path for path in (ROOT / folder).rglob("*.py") if not any(path.is_relative_to(ROOT / part) for part in COMMAND)
    ]

    wrong = [
        f"{path.relative_to(ROOT)}: {module}"
        for path in sources
        for module in imported(path)
        if any(is_in(module, package) for package in FORBIDDEN[folder]) and not is_in(module, ALLOWED.get(folder, " "))
    ]

    assert sources and wrong == []


def test_the_tool_never_imports_triton_or_torch() -> None:
    sources = [
        path
        for folder in ("cache", "portcheck", "rules")
        for path in (ROOT / folder).rglob("*.py")
        if not path.is_relative_to(ROOT / CHILD) and path.name != "kernels.py"
    ]

    assert [
        path for path in sources for module in imported(path) if is_in(module, "triton") or is_in(module, "torch")
    ] == []

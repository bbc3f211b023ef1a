"""Where a failure is in the repository, since that is what code hosts ask for; records are relative to the manifest."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Mapping
from pathlib import Path

from portcheck.report.model import Report, ReportCell
from portcheck.verdicts import Position

_INSTALLED = "dist/"  # what files of installed packages are named by


def in_repository(manifest: Path, environ: Mapping[str, str] = os.environ) -> str:
    """The path of the manifest relative to the root of its repository: the nearest folder above that has a `.git`.

    In a copy without one, GitHub's workspace is the root, and without that the manifest's folder.
    """
    path = manifest.resolve()
    workspace = environ.get("GITHUB_WORKSPACE")
    fallbacks = [Path(workspace).resolve()] if workspace else []
    repositories = [folder for folder in path.parents if (folder / ".git").exists()]
    root = next((root for root in (*repositories, *fallbacks) if root in path.parents), path.parent)
    return path.relative_to(root).as_posix()


def place(report: Report, reported: ReportCell) -> Position:
    """What to show for a cell, as a position in the repository.

    The failing line, the kernel's definition, or the manifest's first line: the first of these that the repository has.
    """
    failure = reported.failure
    asked = (failure.position if failure else None, reported.result.source)
    found = (_in_repository(report, position) for position in asked if position)
    return next((position for position in found if position), Position(report.manifest, 1))


def _in_repository(report: Report, position: Position) -> Position | None:
    if position.file.startswith((_INSTALLED, "/", "<")):
        return None
    file = posixpath.normpath(posixpath.join(posixpath.dirname(report.manifest), position.file))
    return None if file.startswith("../") else Position(file, position.line, position.column)

"""What a run reads must not be what it writes: a report in the place of a manifest would be the end of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from portcheck.errors import UsageError
from portcheck.lock import FILE as LOCK
from portcheck.manifest.model import Manifest
from portcheck.rules.request import Request


def spare_inputs(request: Request, manifest: Manifest) -> None:
    """Refuse to write a report over a file that the run reads.

    Raises:
        UsageError: one of them is to be written.
    """
    read = {path.resolve(): what for path, what in _read(request, manifest)}
    for name, path in request.reports.items():
        what = read.get(path.resolve()) or ("a Python file" if path.suffix == ".py" and path.exists() else None)
        if what:
            raise UsageError(f"--{name} {path}: is {what}, and would be lost: name another file")


def _read(request: Request, manifest: Manifest) -> Iterator[tuple[Path, str]]:
    yield manifest.path, "the manifest"
    yield manifest.folder / LOCK, "the lock"
    if request.baseline:
        yield request.baseline, "the baseline"
    for row in manifest.rows:
        if row.ref.file:
            yield manifest.folder / row.ref.file, f"the source of {row.kernel}"

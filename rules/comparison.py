"""Two releases of one suite compared, in a run of their own; what was shown is remembered."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from portcheck.diff.model import Diff
from portcheck.diff.sides import within
from portcheck.diff.snapshot import Snapshot, read_cells
from portcheck.errors import UsageError
from portcheck.keys import canonical, digest
from portcheck.report.jsonreport import as_dict
from portcheck.report.model import Report, build
from portcheck.rules.run import Run
from portcheck.suite import expectation


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of a comparison; the releases may be left out where a suite has two."""

    old: str
    new: str
    slower: float
    files: Mapping[str, str]  # format → path of those that are to be written


class Comparison:
    """Two releases of one suite, judged in a run of their own: the suite may be checked with others."""

    def __init__(self, run: Run, asked: Asked) -> None:
        """Raises UsageError or EnvironmentProblem for releases that are not there."""
        old, new = _releases(run, asked)
        self.asked = asked = replace(asked, old=old, new=new)
        request = run.request
        selection = replace(request.selection, triton=(asked.old, asked.new))
        self.run = Run(replace(request, selection=selection, json=None, save_ir=None, jobs=os.cpu_count() or 1))
        sides = list(dict.fromkeys(cell.release for cell in self.run.cells.values()))
        if len(sides) != 2:
            raise UsageError(f"{asked.old} and {asked.new} are the same release: name two that differ")
        self._old, self._new = sides
        told = [
            sides,
            asked.slower,
            dict(asked.files),
            list(request.selection.targets),
            list(request.selection.kernels),
        ]
        self._preimage = canonical({"diff": told, "folder": str(self.run.manifest.folder)})

    def is_shown(self) -> bool:
        """Was the same shown last time, and is what was written still there?"""
        remembered = self.run.store.get("local", digest(self._preimage), self._preimage)
        if not remembered or remembered["files"] != self._written():
            return False
        try:
            self.run.prepare()
            return not self.run.settle() and remembered["shown"] == _shown(report_of(self.run))
        finally:
            self.run.close()

    def compare(self) -> Diff:
        """Judge what is not known, and compare.

        Raises:
            PortcheckError: the first problem, if there was any.
        """
        from portcheck.rules.reporter import PortcheckReporter

        PortcheckReporter.runs.append(self.run)  # so that Ctrl-C ends it
        try:
            self.run.prepare()
            missing = [cell.name for cell in self.run.settle()]
            if missing:
                self.run.start_progress(sys.stderr)
                with ThreadPoolExecutor(self.run.request.jobs) as pool:
                    list(pool.map(self.run.compile, missing))
            if self.run.problems:
                raise self.run.problems[0]
            cells = read_cells(as_dict(report_of(self.run)))
        finally:
            self.run.close()
        return within(Snapshot(self.run.manifest.path.name, cells), "triton", self._old, self._new, self.asked.slower)

    def remember(self) -> None:
        """Next time, what was shown need not be shown again."""
        memory = {"shown": _shown(report_of(self.run)), "files": self._written()}
        self.run.store.put("local", digest(self._preimage), self._preimage, memory)

    def _written(self) -> dict[str, str | None]:
        found: dict[str, str | None] = {}
        for path in self.asked.files.values():
            try:
                found[path] = digest(Path(path).read_bytes())
            except OSError:
                found[path] = None
        return found


def _releases(run: Run, asked: Asked) -> tuple[str, str]:
    """The two releases: those that are named, or the two of the suite."""
    of_suite = list(dict.fromkeys(cell.release for cell in run.cells.values()))
    if asked.old and asked.new:
        return asked.old, asked.new
    if len(of_suite) == 2 and not (asked.old or asked.new):
        return of_suite[0], of_suite[1]
    raise UsageError(f"diff: name two releases with --old and --new: this suite is checked with {', '.join(of_suite)}")


def report_of(run: Run) -> Report:
    """The report of all cells of a run that came to its end."""
    return build(
        [(cell, run.results[name]) for name, cell in run.cells.items()], run.workshop.toolchains, 0.0, expectation
    )


def _shown(report: Report) -> str:
    """The digest of what a diff shows of records; when they were looked up, and where, is not in them."""
    cells = as_dict(report)["cells"]
    return digest(canonical([{k: v for k, v in cell.items() if k != "from"} for cell in cells]))

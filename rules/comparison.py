"""Two releases of one suite compared, in a run of their own; what was shown is remembered."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from portcheck.diff.model import Diff
from portcheck.diff.sides import within
from portcheck.diff.snapshot import Snapshot, read_cells
from portcheck.errors import UsageError
from portcheck.report.jsonreport import as_dict
from portcheck.rules.reports import assemble
from portcheck.rules.run import Run
from portcheck.rules.uptodate import Written
from portcheck.toolchain.find import name_of


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of a comparison; the releases may be left out where a suite has two."""

    old: str
    new: str
    slower: float
    files: Mapping[str, Path]  # format → path of those that are to be written


class Comparison:
    """Two releases of one suite, judged in a run of their own: the suite may be checked with others."""

    def __init__(self, run: Run, asked: Asked) -> None:
        """Raises UsageError or EnvironmentProblem for releases that are not there."""
        old, new = _releases(run, asked)
        self.asked = asked
        selection = replace(run.request.selection, triton=(name_of(old), name_of(new)))
        request = replace(
            run.request, selection=selection, reports={}, github=False, save_ir=None, jobs=os.cpu_count() or 1
        )
        self.run = Run(request, run.locked)
        if len(self.run.releases) != 2:
            raise UsageError(f"{old} and {new} are the same release: name two that differ")
        self._written = Written(self.run.store)

    def is_shown(self) -> bool:
        """Was the same shown last time, and is what was written still there? No environment is created to tell."""
        try:
            if not self.run.is_judged():
                return False
            shown = self._shown()
            files = self.asked.files.items()
            return self._written.is_told(self._question, shown) and all(
                self._written.is_current(path, [kind, shown]) for kind, path in files
            )
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
            missing = self.run.settle()
            if missing:
                self.run.start_progress(sys.stderr, len(missing))
                # Each release holds an imported Triton only while its cells run.
                missing.sort(key=lambda cell: self.run.releases.index(cell.release))
                with ThreadPoolExecutor(self.run.request.jobs) as pool:
                    list(pool.map(self.run.compile, [cell.name for cell in missing]))
            if self.run.problems:
                raise self.run.problems[0]
            cells = read_cells(as_dict(assemble(self.run)))
        finally:
            self.run.close()
        old, new = self.run.releases
        return within(Snapshot(self.run.manifest.path.name, cells), "triton", old, new, self.asked.slower)

    def remember(self) -> None:
        """Next time, what was shown need not be shown again."""
        shown = self._shown()
        self._written.remember_told(self._question, shown)
        for kind, path in self.asked.files.items():
            self._written.remember(path, [kind, shown])

    @property
    def _question(self) -> dict[str, Any]:
        selection = self.run.request.selection
        selected = [list(selection.targets), list(selection.kernels)]
        return {"diff": [*self.run.releases, *selected], "folder": str(self.run.manifest.folder)}

    def _shown(self) -> dict[str, Any]:
        """What a diff shows of records; when they were looked up, and where, is not in them."""
        cells = as_dict(assemble(self.run))["cells"]
        return {
            "sides": self.run.releases,
            "slower": self.asked.slower,
            "cells": [{k: v for k, v in cell.items() if k != "from"} for cell in cells],
        }


def _releases(run: Run, asked: Asked) -> tuple[str, str]:
    """The two releases: those that are named, or the two of the suite."""
    if asked.old and asked.new:
        return asked.old, asked.new
    if len(run.releases) == 2 and not (asked.old or asked.new):
        return run.releases[0], run.releases[1]
    checked = ", ".join(run.releases)
    raise UsageError(f"diff: name two releases with --old and --new: this suite is checked with {checked}")

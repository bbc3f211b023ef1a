"""The task `diff`: two releases of a suite compared, shown again only when the records it shows have changed."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from doit.exceptions import TaskError, TaskFailed

from portcheck.diff import data, markdown, text
from portcheck.diff.limits import DEFAULT_SLOWER
from portcheck.diff.model import Diff
from portcheck.diff.sides import within
from portcheck.diff.snapshot import Snapshot, read_cells
from portcheck.errors import PortcheckError, UsageError, internal_error
from portcheck.keys import canonical, digest
from portcheck.report.jsonreport import as_dict
from portcheck.report.model import Report, build
from portcheck.rules.run import Run
from portcheck.streams import tell
from portcheck.suite import expectation

Task = dict[str, Any]

PARAMS: list[dict[str, Any]] = [
    {"name": "old", "long": "old", "default": "", "help": "the release to compare with"},
    {"name": "new", "long": "new", "default": "", "help": "the release to compare"},
    {"name": "slower", "long": "slower", "type": float, "default": DEFAULT_SLOWER, "help": "percent that count"},
    {"name": "json", "long": "json", "default": "", "help": "write the diff as JSON"},
    {"name": "markdown", "long": "markdown", "default": "", "help": "write the diff as Markdown"},
]
_WRITERS = {"json": data.write, "markdown": markdown.write}


def diff_task(run: Run) -> Task:
    """`diff`: compile what is missing of two releases, and compare them. Fails if something regressed.

    It depends on no cell's task: those are of the releases that the suite is checked with, and fail for a new failure.
    """

    def show(old: str, new: str, slower: float, json: str, markdown: str) -> Any:
        return _show(run, _Asked(old, new, slower, {"json": json, "markdown": markdown}))

    def is_shown(task: Any) -> bool:
        given = {param["name"]: param["default"] for param in PARAMS} | (task.options or {})
        files = {kind: given[kind] for kind in _WRITERS}
        asked = _Asked(given["old"], given["new"], given["slower"], files)
        try:
            shown = _Comparison(run, asked).is_shown()
        except PortcheckError:
            return False  # the action says what is wrong
        task.meta = {"unchanged": f"diff {asked.old} -> {asked.new}"}
        return shown

    return {
        "actions": [show],
        "params": PARAMS,
        "uptodate": [is_shown],
        "io": {"capture": False},
        "verbosity": 2,
        "doc": "compare two releases: doit diff --old 3.8.0 --new 3.9.0",
    }


@dataclass(slots=True)
class _Asked:
    """What the command line of the task says."""

    old: str
    new: str
    slower: float
    files: Mapping[str, str]  # format → path, or nothing


class _Comparison:
    """Two releases of one suite, judged in a run of their own: the suite may be checked with others."""

    def __init__(self, run: Run, asked: _Asked) -> None:
        """Raises UsageError or EnvironmentProblem for releases that are not there."""
        asked.old, asked.new = _releases(run, asked)
        self._asked, request = asked, run.request
        selection = replace(request.selection, triton=(asked.old, asked.new))
        self.run = Run(replace(request, selection=selection, json=None, save_ir=None, jobs=os.cpu_count() or 1))
        sides = list(dict.fromkeys(cell.release for cell in self.run.cells.values()))
        if len(sides) != 2:
            raise UsageError(f"{asked.old} and {asked.new} are the same release: name two that differ")
        self._old, self._new = sides
        self._files = {kind: str(Path(path).resolve()) for kind, path in asked.files.items() if path}
        told = [sides, asked.slower, self._files, list(request.selection.targets), list(request.selection.kernels)]
        self._preimage = canonical({"diff": told, "folder": str(self.run.manifest.folder)})

    def is_shown(self) -> bool:
        """Was the same shown last time, and is what was written still there?"""
        remembered = self.run.store.get("local", digest(self._preimage), self._preimage)
        if not remembered or remembered["files"] != self._written():
            return False
        try:
            self.run.prepare()
            return not self.run.settle() and remembered["shown"] == _shown(_report(self.run))
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
            cells = read_cells(as_dict(_report(self.run)))
        finally:
            self.run.close()
        return within(Snapshot(self.run.manifest.path.name, cells), "triton", self._old, self._new, self._asked.slower)

    def remember(self) -> None:
        """Next time, what was shown need not be shown again."""
        memory = {"shown": _shown(_report(self.run)), "files": self._written()}
        self.run.store.put("local", digest(self._preimage), self._preimage, memory)

    def _written(self) -> dict[str, str | None]:
        found: dict[str, str | None] = {}
        for path in self._files.values():
            try:
                found[path] = digest(Path(path).read_bytes())
            except OSError:
                found[path] = None
        return found


def _show(run: Run, asked: _Asked) -> Any:
    """The action of the task; what goes wrong is told in one line, as everywhere."""
    try:
        comparison = _Comparison(run, asked)
        diff = comparison.compare()
        for kind, path in asked.files.items():
            if path:
                _WRITERS[kind](diff, Path(path))
        sys.stdout.write(text.render(diff, color=run.request.color))
        sys.stdout.flush()
        if diff.status:
            return TaskFailed(f"{diff.summary['regressed']} regressed")
        comparison.remember()
    except PortcheckError as error:
        return _told(error)
    except Exception as error:
        return _told(internal_error(error))
    return True


def _told(error: PortcheckError) -> TaskError:
    tell(*(f"portcheck: {line}" for line in str(error).splitlines()))
    return TaskError(str(error))


def _releases(run: Run, asked: _Asked) -> tuple[str, str]:
    """The two releases: those that are named, or the two of the suite."""
    of_suite = list(dict.fromkeys(cell.release for cell in run.cells.values()))
    if asked.old and asked.new:
        return asked.old, asked.new
    if len(of_suite) == 2 and not (asked.old or asked.new):
        return of_suite[0], of_suite[1]
    raise UsageError(f"diff: name two releases with --old and --new: this suite is checked with {', '.join(of_suite)}")


def _report(run: Run) -> Report:
    return build(
        [(cell, run.results[name]) for name, cell in run.cells.items()], run.workshop.toolchains, 0.0, expectation
    )


def _shown(report: Report) -> str:
    """The digest of what a diff shows of records; when they were looked up, and where, is not in them."""
    cells = as_dict(report)["cells"]
    return digest(canonical([{k: v for k, v in cell.items() if k != "from"} for cell in cells]))

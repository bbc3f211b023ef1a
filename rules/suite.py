"""For a user's dodo.py: `portcheck_suite` gives its task creators, `DOIT_CONFIG` what doit has to know."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from doit import doit_cmd, get_var
from doit.exceptions import TaskError

from portcheck.errors import PortcheckError, UsageError
from portcheck.manifest.loader import find_manifest
from portcheck.report.formats import FORMATS
from portcheck.rules import wildcards
from portcheck.rules.reporter import PortcheckReporter
from portcheck.rules.request import SHOW, STATIC, Request
from portcheck.rules.run import Run
from portcheck.rules.tasks import KINDS, PARAMS, creators
from portcheck.suite import Selection

DOIT_CONFIG: dict[str, Any] = {
    "reporter": PortcheckReporter,
    "default_tasks": ["portcheck"],
    "num_process": os.cpu_count() or 1,
    "par_type": "thread",
    "continue": True,
    "verbosity": 2,
    # The cache is the memory: doit's own would be written only at the end of a run, and lost by a kill.
    "backend": "sqlite3",
    "dep_file": ":memory:",
}
VARIABLES = ("targets", "triton", "kernels", "static")  # selections on doit's command line


def portcheck_suite(
    manifest: str | Path | None = None,
    *,
    baseline: str | Path | None = None,
    github: bool = False,
    **reports: str | Path | None,
) -> dict[str, Callable[[], Any]]:
    """The task creators for a manifest, to be put into a dodo.py's globals.

    Selections are given on doit's command line:
    `doit portcheck targets=cuda:80,hip:gfx942 triton=3.9.0 kernels='attn*'`. `static=skip` takes predicted failures
    instead of compiling, `static=only` compiles nothing.

    Args:
        manifest: where it is; without it the one of the current folder or of the nearest above.
        baseline: the failures that are taken as known, once the task `baseline` has written them there.
        github: tell GitHub Actions, too: annotations with the matrix, and the job's summary.
        reports: where the tasks of the formats write: `json` (the task `report`), `junit`, `sarif`, `markdown`, `html`.
    """
    wildcards.install()
    try:
        run = Run(_request(manifest, baseline, github, reports))
    except PortcheckError as error:
        return {f"task_{kind}": _broken(kind, str(error)) for kind in KINDS}
    PortcheckReporter.runs.append(run)
    return creators(run, run.cells.values)


def _request(
    manifest: str | Path | None, baseline: str | Path | None, github: bool, reports: Mapping[str, str | Path | None]
) -> Request:
    path = Path(manifest) if manifest else find_manifest(Path.cwd())
    if path is None:
        raise UsageError("no portcheck.toml here or above; write one, or name it: portcheck_suite(manifest=…)")
    _check_variables()
    _check_formats(reports)
    selection = Selection(targets=_list("targets"), triton=_list("triton"), kernels=_list("kernels"))
    color = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    return Request(
        path,
        selection,
        color=color,
        reports={name: Path(file) for name, file in reports.items() if file},
        github=github,
        baseline=Path(baseline) if baseline else None,
        baseline_may_be_missing=True,
        static=_static(),
    )


def _check_variables() -> None:
    """A misspelt selection would select everything. Variables that look like none of ours are the user's own."""
    for name in doit_cmd._CMDLINE_VARS or ():
        near = difflib.get_close_matches(name, VARIABLES, n=1, cutoff=0.8)
        if near and name not in VARIABLES:
            raise UsageError(f"{name}=…: no such selection: write {near[0]}=…")


def _check_formats(reports: Iterable[str]) -> None:
    known = [form.name for form in FORMATS]
    for name in reports:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
            raise UsageError(f"portcheck_suite({name}=…): no such format: {hint}")


def _list(name: str) -> tuple[str, ...]:
    return tuple(part for part in str(get_var(name, "") or "").split(",") if part)


def _static() -> str:
    given = str(get_var("static", SHOW) or SHOW)
    if given not in STATIC:
        raise UsageError(f"static={given}: has to be one of {', '.join(STATIC)}")
    return given


def _broken(kind: str, message: str) -> Callable[[], dict[str, Any]]:
    """Makes a task of a suite that could not be made: it says why. Other tasks of the dodo.py are unharmed."""

    def say() -> TaskError:
        for line in message.splitlines():
            print(f"portcheck: {line}", file=sys.stderr)
        return TaskError(message)

    def create() -> dict[str, Any]:  # a function: doit passes over other callables, such as partials
        doc = "cannot be made: run it to see why"
        return {"actions": [say], "params": PARAMS.get(kind, []), "doc": doc, "io": {"capture": False}, "verbosity": 2}

    return create

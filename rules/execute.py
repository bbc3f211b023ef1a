"""Handing a run's graph to doit from the command line: the same tasks as from a dodo.py, with our exit statuses."""

from __future__ import annotations

from doit.cmd_base import ModuleTaskLoader
from doit.doit_cmd import DoitMain

from portcheck.errors import EnvironmentProblem
from portcheck.rules.reporter import PortcheckReporter
from portcheck.rules.run import Run
from portcheck.rules.suite import DOIT_CONFIG
from portcheck.rules.tasks import creators


def execute(run: Run) -> int:
    """Run the whole graph and return the exit status.

    Keys are looked up before the graph is made, and cells that are known get no task: doit takes about 65 µs a task.

    Raises:
        UsageError, EnvironmentProblem: before anything ran.
    """
    _run(run, "portcheck")
    return run.status


def execute_baseline(run: Run, output: str, *, prune: bool) -> int:
    """Judge every cell, freeze the failures into the file `output`, and return the exit status.

    Raises:
        UsageError, EnvironmentProblem: before anything ran.
    """
    ended = _run(run, "baseline", f"--output={output}", *(["--prune"] if prune else []))
    return run.trouble.status or (EnvironmentProblem.status if ended else 0)


def _run(run: Run, *task: str) -> int:
    """Run a task and all that it depends on; returns doit's status."""
    run.prepare()
    unknown = run.settle()
    PortcheckReporter.runs[:] = [run]
    config = {**DOIT_CONFIG, "num_process": run.request.jobs}
    loader = ModuleTaskLoader({"DOIT_CONFIG": config, **creators(run, lambda: unknown)})
    return int(DoitMain(loader, config_filenames=()).run(["run", *task]))  # no pyproject.toml or doit.cfg of the user

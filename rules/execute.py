"""Handing a run's graph to doit from the command line: the same tasks as from a dodo.py, with our exit statuses."""

from __future__ import annotations

from doit.cmd_base import ModuleTaskLoader
from doit.doit_cmd import DoitMain

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
    run.prepare()
    unknown = run.settle()
    PortcheckReporter.runs[:] = [run]
    config = {**DOIT_CONFIG, "num_process": run.request.jobs}
    loader = ModuleTaskLoader({"DOIT_CONFIG": config, **creators(run, lambda: unknown)})
    DoitMain(loader, config_filenames=()).run(["run", "portcheck"])  # no pyproject.toml or doit.cfg of the user
    return run.status

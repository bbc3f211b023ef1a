"""In which order releases are checked: one after the other, since each holds an imported Triton in memory."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from portcheck.rules.run import Run


def release_by_release(run: Run, tasks: Mapping[str, Any]) -> None:
    """Let each release wait for the one before it, until that has fewer cells left than there are workers.

    For a run of all of doit's `tasks`, of which none fails: these dependencies are nobody's wish, only an order.
    """
    for before, after in pairwise(run.releases):
        cells = [name for name in tasks if name.startswith("compile:") and name.endswith(f"@{before}")]
        first = tasks.get(f"toolchain:{after}")
        if first is not None:
            first.task_dep = [*first.task_dep, *cells[: max(0, len(cells) - run.request.jobs + 1)]]

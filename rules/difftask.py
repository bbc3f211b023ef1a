"""The task `diff`: two releases of a suite compared, shown again only when the records it shows have changed.

What compares them is imported when the task is asked for: every run makes the task.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from doit.exceptions import TaskError, TaskFailed

from portcheck.diff.limits import DEFAULT_SLOWER
from portcheck.rules.run import Run
from portcheck.rules.uptodate import SKIPPED
from portcheck.streams import write_out

if TYPE_CHECKING:
    from portcheck.rules.comparison import Comparison

FILES = ("json", "markdown")
PARAMS: list[dict[str, Any]] = [
    {"name": "old", "long": "old", "default": "", "help": "the release to compare with"},
    {"name": "new", "long": "new", "default": "", "help": "the release to compare"},
    {"name": "slower", "long": "slower", "type": float, "default": DEFAULT_SLOWER, "help": "percent that count"},
    {"name": "json", "long": "json", "default": "", "help": "write the diff as JSON"},
    {"name": "markdown", "long": "markdown", "default": "", "help": "write the diff as Markdown"},
]


def show_diff(run: Run, old: str, new: str, slower: float, json: str, markdown: str) -> Any:
    """Action of `diff`: compile what is missing of two releases, and compare them. Fails if something regressed."""
    given = {"old": old, "new": new, "slower": slower, "json": json, "markdown": markdown}
    ended: list[Any] = []
    run.trouble.guarded(lambda: ended.append(_show(run, given)))
    run.trouble.tell()
    return TaskError("told already") if run.trouble.status or not ended else ended[0]


def is_shown(run: Run, task: Any) -> bool:
    """Would `diff` show what it showed last time? `task` learns what is told then."""
    task.init_options()
    comparison = _comparison(run, task.options)
    sides = " -> ".join(comparison.run.releases)
    task.meta = {SKIPPED: [f"diff {sides}: unchanged, not shown again (doit run -a diff shows it)"]}
    return comparison.is_shown()


def _comparison(run: Run, given: dict[str, Any]) -> Comparison:
    from portcheck.rules.comparison import Asked, Comparison

    files = {kind: Path(given[kind]) for kind in FILES if given[kind]}
    return Comparison(run, Asked(given["old"], given["new"], given["slower"], files))


def _show(run: Run, given: dict[str, Any]) -> Any:
    """Compare and show; returns what doit is told."""
    from portcheck.diff import data, markdown, text

    writers = {"json": data.write, "markdown": markdown.write}
    comparison = _comparison(run, given)
    diff = comparison.compare()
    for kind, path in comparison.asked.files.items():
        writers[kind](diff, path)
    if unwritable := write_out(text.render(diff, color=run.request.color)):
        raise unwritable
    if diff.status:
        regressed = f"{diff.summary['regressed']} regressed"
        return TaskFailed(regressed) if diff.status == 1 else TaskError(regressed)
    comparison.remember()
    return True

"""The task `diff`: two releases of a suite compared, shown again only when the records it shows have changed.

What compares them is imported when the task is asked for: every run makes the task.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from doit.exceptions import TaskError, TaskFailed

from portcheck.diff.limits import DEFAULT_SLOWER
from portcheck.errors import PortcheckError, internal_error
from portcheck.rules.run import Run
from portcheck.streams import tell

if TYPE_CHECKING:
    from portcheck.rules.comparison import Comparison

Task = dict[str, Any]

FILES = ("json", "markdown")
PARAMS: list[dict[str, Any]] = [
    {"name": "old", "long": "old", "default": "", "help": "the release to compare with"},
    {"name": "new", "long": "new", "default": "", "help": "the release to compare"},
    {"name": "slower", "long": "slower", "type": float, "default": DEFAULT_SLOWER, "help": "percent that count"},
    {"name": "json", "long": "json", "default": "", "help": "write the diff as JSON"},
    {"name": "markdown", "long": "markdown", "default": "", "help": "write the diff as Markdown"},
]


def diff_task(run: Run) -> Task:
    """`diff`: compile what is missing of two releases, and compare them. Fails if something regressed.

    It depends on no cell's task: those are of the releases that the suite is checked with, and fail for a new failure.
    """

    def show(old: str, new: str, slower: float, json: str, markdown: str) -> Any:
        return _show(run, {"old": old, "new": new, "slower": slower, "json": json, "markdown": markdown})

    def is_shown(task: Any) -> bool:
        try:
            comparison = _comparison(run, {param["name"]: param["default"] for param in PARAMS} | (task.options or {}))
            task.meta = {"unchanged": f"diff {comparison.asked.old} -> {comparison.asked.new}"}
            return comparison.is_shown()
        except PortcheckError:
            return False  # the action says what is wrong

    return {
        "actions": [show],
        "params": PARAMS,
        "uptodate": [is_shown],
        "io": {"capture": False},
        "verbosity": 2,
        "doc": "compare two releases: doit diff --old 3.8.0 --new 3.9.0",
    }


def _comparison(run: Run, given: dict[str, Any]) -> Comparison:
    from portcheck.rules.comparison import Asked, Comparison

    files = {kind: str(Path(given[kind]).resolve()) for kind in FILES if given[kind]}
    return Comparison(run, Asked(given["old"], given["new"], given["slower"], files))


def _show(run: Run, given: dict[str, Any]) -> Any:
    """The action of the task; what goes wrong is told in one line, as everywhere."""
    from portcheck.diff import data, markdown, text

    writers = {"json": data.write, "markdown": markdown.write}
    try:
        comparison = _comparison(run, given)
        diff = comparison.compare()
        for kind, path in comparison.asked.files.items():
            writers[kind](diff, Path(path))
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

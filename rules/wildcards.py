"""Wildcards over our tasks on doit's command line, read as everywhere else here.

doit reads them as a shell would, so the brackets of a variant (`compile:attn[bf16]@*`) would be a set of characters,
and a pattern that matches nothing would run nothing and succeed.
"""

from __future__ import annotations

from collections.abc import Iterator

from doit.control import TaskControl
from doit.exceptions import InvalidCommand

from portcheck.patterns import is_wild, matches
from portcheck.rules.tasks import GROUPS, MATRIX, SHOWN, is_ours

_select = TaskControl._process_filter


def install() -> None:
    """Make doit expand patterns over our tasks with `portcheck.patterns`; other patterns stay doit's.

    What is asked of a suite that could not be made selects the task that says why.
    """
    TaskControl._process_filter = _expand_and_select


def _expand_and_select(control: TaskControl, selection: list[str]) -> list[str]:
    expanded = [name for text in selection for name in _expand(control, text)]
    selected: list[str] = _select(control, expanded)
    shown = [name for name in selected if name.partition(":")[0] in SHOWN]
    if shown and "portcheck" not in selected and MATRIX in control.tasks:
        control.tasks[MATRIX].task_dep = shown
        selected.append(MATRIX)
    return selected


def _expand(control: TaskControl, text: str) -> Iterator[str]:
    kind, colon, _ = text.partition(":")
    if not is_ours(text):
        yield text
        return
    if colon and kind in GROUPS and kind in control.tasks and control.tasks[kind].actions:
        yield kind  # a group has no actions of its own, unless its suite could not be made
        return
    if not is_wild(text):
        yield text
        return
    found = [name for name in control.tasks if matches(text, name)]
    if not found:
        raise InvalidCommand(not_found=text)
    yield from found

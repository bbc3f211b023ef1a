"""Patterns over tasks on doit's command line."""

from __future__ import annotations

import pytest
from doit.control import TaskControl
from doit.exceptions import InvalidCommand
from doit.task import Task

from portcheck.rules import wildcards

NAMES = (
    "compile",
    "compile:attn@cuda:90@3.9.0",
    "compile:attn[bf16]@cuda:90@3.9.0",
    "compile:attnb@hip:gfx942@3.9.0",
    "docs:a",
)


@pytest.fixture
def control(monkeypatch: pytest.MonkeyPatch) -> TaskControl:
    """doit's control over some tasks, with our patterns."""
    monkeypatch.setattr(TaskControl, "_process_filter", TaskControl._process_filter)  # put back afterwards
    wildcards.install()
    wildcards.install()
    return TaskControl([Task(name, None) for name in NAMES])


@pytest.mark.parametrize(
    ("selection", "selected"),
    [
        (["compile:attn[bf16]@*"], [NAMES[2]]),
        (["compile:attn*@cuda:*"], [NAMES[1], NAMES[2]]),
        (["compile:attn?@*"], [NAMES[3]]),
        (["compile:attn@cuda:90@3.9.0"], [NAMES[1]]),
        (["compile"], ["compile"]),
        (["compile:*gfx942*", "docs:*"], [NAMES[3], "docs:a"]),
        (["docs:[ab]*"], ["docs:a"]),  # other people's tasks stay doit's
    ],
)
def test_brackets_are_literal_in_ours(control: TaskControl, selection: list[str], selected: list[str]) -> None:
    control.process(selection)

    assert control.selected_tasks == selected


def test_a_pattern_that_matches_nothing_is_an_error(control: TaskControl) -> None:
    with pytest.raises(InvalidCommand, match=r"compile:attn\[fp16\]@\*"):
        control.process(["compile:attn[fp16]@*"])

"""`doit` with a dodo.py of the user's that calls `portcheck_suite`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.acceptance.copies import KERNELS

if TYPE_CHECKING:
    from tests.conftest import Project

FILES = {
    "dodo.py": """
        from portcheck.rules import DOIT_CONFIG, portcheck_suite
        globals().update(portcheck_suite())

        def task_hello():
            return {"actions": ["echo hello from the user"], "verbosity": 2}
    """,
    "portcheck.toml": """
        [defaults]
        targets = ["cuda:90", "hip:gfx942"]

        [[kernel]]
        name = "copy"
        target = "kernels.py:copy"
        signature = { x = "*fp32", y = "*fp32" }

        [[kernel.variant]]
        name = "fp16"
        signature = { x = "*fp16", y = "*fp16" }

        [[kernel]]
        name = "tgamma"
        target = "kernels.py:tgamma"
        signature = { x = "*fp32" }
    """,
    "kernels.py": KERNELS,
}


@pytest.fixture(scope="module")
def suite(make_project: Callable[[], Project]) -> Project:
    """Three rows on two targets, one cell red, and a cache that the first test that needs it fills."""
    project = make_project()
    project.write(FILES)
    return project


def test_portcheck_is_the_default_task_and_the_same_graph_as_the_command(suite: Project) -> None:
    status, out, _ = suite.doit()
    ran = suite.check()

    assert status == 1
    assert set(ran.origins.values()) == {"cached"}
    matrix, groups = (out.partition("6 cells: ")[0], ran.out.partition("6 cells: ")[0])
    assert matrix == groups
    assert "front:A" in matrix


def test_cells_are_selected_by_wildcards_in_which_brackets_are_literal(suite: Project) -> None:
    status, out, _ = suite.doit("compile:copy*@hip:*")

    assert status == 0
    assert "2 cells: 2 ok" in out
    assert "copy[fp16]" in out

    for pattern in ("compile:copy[fp16]@*", "compile:copy[fp??]@*"):
        status, out, _ = suite.doit(pattern)

        assert status == 0
        assert "2 cells: 2 ok" in out


def test_a_pattern_that_matches_no_cell_is_an_error(suite: Project) -> None:
    status, _, err = suite.doit("compile:copy[bf16]@*")

    assert status != 0
    assert 'invalid parameter: "compile:copy[bf16]@*"' in err.lower()


def test_a_red_cell_that_is_asked_for_by_name_fails(suite: Project) -> None:
    status, out, _ = suite.doit("compile:tgamma@hip:*")

    assert status != 0
    assert "1 failed (1 new)" in out


def test_selections_are_given_as_variables(suite: Project) -> None:
    status, out, _ = suite.doit("portcheck", "targets=cuda:90,hip:gfx942", "kernels=copy*", "triton=current")

    assert status == 0
    assert "4 cells: 4 ok" in out


def test_list_shows_every_cell(suite: Project) -> None:
    _, out, _ = suite.doit("list", "--all", "-q")

    tasks = out.split()
    assert [task for task in tasks if task.startswith("compile:tgamma")] == [
        f"compile:tgamma@{target}@{suite_release(tasks)}" for target in ("cuda:90", "hip:gfx942")
    ]
    assert {"portcheck", "report", "compile", "resolve", "toolchain", "hello"} <= set(tasks)


def suite_release(tasks: list[str]) -> str:
    """The release that the suite's toolchain task names."""
    (release,) = (task.partition(":")[2] for task in tasks if task.startswith("toolchain:"))
    return release


def test_other_tasks_of_the_user_are_told_as_ever(suite: Project) -> None:
    status, out, err = suite.doit("hello")

    assert status == 0
    assert "hello from the user" in out
    assert "cells" not in out + err


def test_a_mistake_in_the_manifest_harms_no_other_task(project: Project) -> None:
    project.write({**FILES, "portcheck.toml": "[[kernel]]\nnam = 'copy'\n"})

    status, out, err = project.doit("portcheck")

    assert status != 0
    assert "did you mean name?" in err
    assert "Traceback" not in out + err
    assert project.doit("hello")[0] == 0


@pytest.mark.parametrize("task", ["compile", "compile:*", "compile:copy@cuda:90@3.9.0", "report", "resolve:*", "audit"])
def test_a_suite_with_a_mistake_is_never_green(project: Project, task: str) -> None:
    project.write({**FILES, "portcheck.toml": "[[kernel]]\nnam = 'copy'\n"})

    status, out, err = project.doit(task)

    assert (status, out) == (2, "")
    assert all(line.startswith("portcheck: ") for line in err.splitlines())
    assert "did you mean name?" in err


def test_a_misspelt_selection_is_an_error(project: Project) -> None:
    project.write(FILES)

    status, _, err = project.doit("portcheck", "target=cuda:90")

    assert (status, err) == (2, "portcheck: target=…: no such selection: write targets=…\n")


def test_a_mistake_that_only_the_kernel_shows_is_told(project: Project) -> None:
    project.write({**FILES, "portcheck.toml": FILES["portcheck.toml"].replace("kernels.py:copy", "kernels.py:cpoy")})

    for task in ("portcheck", "compile:copy@cuda:*"):
        status, out, err = project.doit(task)

        assert status != 0
        assert "kernels.py has no cpoy (did you mean copy?)" in err
        assert "Traceback" not in out + err

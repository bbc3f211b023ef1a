"""Kernels of every sort: portcheck makes of them what a launch makes of them, to the byte."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Project, Ran

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def cases(make_project: Callable[[], Project]) -> Project:
    """The manifest of cases/ in a folder of its own."""
    project = make_project()
    shutil.copytree(HERE / "cases", project.folder, dirs_exist_ok=True)
    return project


@pytest.fixture(scope="module")
def ran(cases: Project) -> Ran:
    """Its cells, with all that their stages made."""
    return cases.check("--save-ir", "ir")


def test_they_compile(ran: Ran) -> None:
    red = {name: verdict for name, verdict in ran.verdicts.items() if verdict[0] != "ok"}

    assert red == {"foreign_asm@hip:gfx942": ("unraised-error", "amdgcn")}
    assert len(ran.cells) == 18


def test_an_error_that_nobody_raised_is_told_in_the_compiler_s_words(ran: Ran) -> None:
    failure = ran.failure("foreign_asm@hip:gfx942")

    assert "could not allocate output register for constraint" in failure["message"]


@pytest.mark.parametrize(("target", "binary"), [("cuda:90", "cubin"), ("hip:gfx942", "hsaco")])
def test_a_cell_s_binary_is_what_a_launch_compiles(
    cases: Project, ran: Ran, tmp_path: Path, target: str, binary: str
) -> None:
    (tmp_path / "cache").mkdir()
    subprocess.run(
        [sys.executable, HERE / "launches.py", *target.split(":"), cases.folder, tmp_path],
        env={**cases.environment(), "TRITON_CACHE_DIR": str(tmp_path / "cache")},
        check=True,
    )
    launched = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}

    checked = {
        cell["kernel"]: cell["cell"]
        for cell in ran.cells.values()
        if cell["target"] == target and cell["kernel"] != "foreign_asm"
    }
    assert len(launched) == 8
    assert launched == {row: (cases.folder / "ir" / cell / binary).read_bytes() for row, cell in checked.items()}


def test_no_stage_of_any_cell_names_this_machine_s_folders(cases: Project, ran: Ran) -> None:
    stages = list((cases.folder / "ir").glob("*/*"))
    assert len(stages) > 5 * len(ran.cells)
    for stage in stages:
        data = stage.read_bytes()
        for folder in (cases.folder, Path(sys.prefix), cases.cache, Path("/tmp")):
            assert str(folder).encode() not in data, f"{stage} contains {folder}"
        assert b"portcheck_child" not in data


def test_another_folder_gives_the_same_keys_and_artifacts(
    cases: Project, ran: Ran, make_project: Callable[[], Project]
) -> None:
    elsewhere = make_project()
    elsewhere.folder = elsewhere.folder / "deeper" / "down"
    shutil.copytree(HERE / "cases", elsewhere.folder)

    there = elsewhere.check("-k", "scan", "-k", "asserts")

    for name, cell in there.cells.items():
        here = ran.cells[name]
        assert cell["from"] == "compiled"
        for what in ("front_key", "back_key", "kernel_hash", "artifacts", "source"):
            assert cell[what] == here[what], f"{name}: {what}"


def test_spawned_interpreters_give_the_same_verdicts_and_artifacts(
    cases: Project, ran: Ran, make_project: Callable[[], Project]
) -> None:
    spawned = make_project()
    shutil.copytree(HERE / "cases", spawned.folder, dirs_exist_ok=True)

    again = spawned.check("--isolation", "spawn", "-k", "scan", "-k", "asserts", "-k", "gluon*", "-k", "foreign_asm")

    assert len(again.cells) == 8
    for name, cell in again.cells.items():
        assert cell["from"] == "compiled"
        for what in ("verdict", "stage", "fingerprint", "back_key", "artifacts", "resources"):
            assert cell[what] == ran.cells[name][what], f"{name}: {what}"
    assert spawned.left_behind() == []


def test_any_name_will_do_for_a_row(project: Project) -> None:
    project.write(
        {
            "kernels.py": """
            import triton
            import triton.language as tl

            @triton.jit
            def copy(x, BLOCK: tl.constexpr):
                at = tl.arange(0, BLOCK)
                tl.store(x + at, tl.load(x + at))
            """,
            "portcheck.toml": """
            [defaults]
            targets = ["cuda:90"]

            [[kernel]]
            name = "co=py 100%"
            target = "kernels.py:copy"

            [[kernel.variant]]
            name = "BLOCK=64"
            signature = { x = "*fp32" }
            constants = { BLOCK = 64 }
            """,
        }
    )

    first, second = project.check(), project.check()

    assert first.verdicts == {"co=py 100%[BLOCK=64]@cuda:90": ("ok", None)}
    assert set(second.origins.values()) == {"cached"}


@pytest.mark.parametrize("where", ["options", "options_cuda"])
def test_another_architecture_than_the_target_s_is_refused(project: Project, where: str) -> None:
    project.write(
        {
            "kernels.py": """
            import triton
            import triton.language as tl

            @triton.jit
            def copy(x):
                tl.store(x, tl.load(x))
            """,
            "portcheck.toml": f"""
            [[kernel]]
            name = "copy"
            target = "kernels.py:copy"
            signature = {{ x = "*fp32" }}
            {where} = {{ arch = "sm90" }}
            targets = ["cuda:80"]
            """,
        }
    )

    ran = project.check()

    assert ran.verdicts == {"copy@cuda:80": ("options-error", "options")}
    assert "option arch compiles for another architecture" in ran.failure("copy@cuda:80")["message"]


def test_a_jit_constant_that_is_not_there_is_a_mistake_of_the_manifest(project: Project) -> None:
    project.write(
        {
            "kernels.py": """
            import triton
            import triton.language as tl

            @triton.jit
            def apply(x, ACT: tl.constexpr):
                tl.store(x, ACT(tl.load(x)))
            """,
            "portcheck.toml": """
            [[kernel]]
            name = "apply"
            target = "kernels.py:apply"
            signature = { x = "*fp32" }
            constants = { ACT = { jit = "kernels.py:absent" } }
            targets = ["cuda:90"]
            """,
        }
    )

    ran = project.check()

    assert ran.status == 2
    assert 'kernel "apply": constants: kernels.py has no absent, which a jit constant names' in ran.err

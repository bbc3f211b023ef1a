"""Autotuned rows, as a user runs them: a row stands for what its launch chooses from."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Project

KERNELS = """
import os
import triton
import triton.language as tl

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "warps.txt")) as file:
    WARPS = [int(word) for word in file.read().split()]

def in_range(configs, named_args, **kwargs):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "largest.txt")) as file:
        largest = int(file.read())
    return [config for config in configs if config.kwargs["BLOCK"] <= largest]

@triton.autotune(
    [triton.Config({"BLOCK": block}, num_warps=warps) for block in (64, 128, 1 << 21, 1 << 22) for warps in WARPS],
    key=["n"],
    prune_configs_by={"early_config_prune": in_range},
)
@triton.heuristics({"MASKED": lambda args: args["y"] is not None})
@triton.jit
def scale(x, y, n, BLOCK: tl.constexpr, MASKED: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, at < n)
    if MASKED:
        value *= tl.load(y + at, at < n)
    tl.store(x + at, value, at < n)
"""
MANIFEST = """
[defaults]
targets = ["cuda:90", "hip:gfx942"]
configs = "all"

[[kernel]]
name = "scale"
target = "kernels.py:scale"
signature = { x = "*fp32:16", y = "*fp32:16", n = "i32" }
"""
AS_WRITTEN = """
[[kernel]]
name = "written"
target = "kernels.py:scale"
signature = { x = "*fp32:16", y = "*fp32:16", n = "i32" }
constants = { BLOCK = 128, MASKED = true }
options = { num_warps = 4, num_stages = 3, num_ctas = 1 }
"""
TOO_LARGE = "numel (2097152) exceeds triton maximum tensor numel (1048576)"


def files(manifest: str = MANIFEST, warps: str = "2 4", largest: int = 1 << 21) -> dict[str, str]:
    return {"kernels.py": KERNELS, "portcheck.toml": manifest, "warps.txt": warps, "largest.txt": str(largest)}


@pytest.fixture(scope="module")
def tuned(make_project: Callable[[], Project]) -> Project:
    """A project whose configurations are all compiled."""
    project = make_project()
    project.write(files())
    assert project.check().status == 0
    return project


@pytest.fixture
def own(tuned: Project, make_project: Callable[[], Project]) -> Project:
    """The same in a checkout and with a cache of one's own."""
    project = make_project()
    shutil.copytree(tuned.folder, project.folder, dirs_exist_ok=True)
    shutil.copytree(tuned.cache, project.cache)
    return project


def test_a_row_is_ok_if_a_configuration_survives_and_says_how_many_do(make_project: Callable[[], Project]) -> None:
    project = make_project()
    project.write(files())

    ran = project.check()

    assert ran.status == 0
    for target in ("cuda:90", "hip:gfx942"):
        cell = ran.cells[f"scale@{target}"]
        assert (cell["verdict"], cell["from"]) == ("ok", "compiled")
        assert cell["configs"] == {
            "ok": 4,
            "of": 6,
            "total": 6,
            "shown": "BLOCK=64, num_warps=2, num_stages=3",
            "failed": [
                {
                    "config": f"BLOCK=2097152, num_warps={warps}, num_stages=3",
                    "verdict": "frontend-error",
                    "stage": "frontend",
                    "message": TOO_LARGE,
                    "passed_over": False,
                }
                for warps in (2, 4)
            ],
        }
        assert cell["resources"]["num_warps"] == 2
    assert "scale  ok 4/6   ok 4/6" in ran.out
    assert "scale on cuda:90: 2 of 6: BLOCK=2097152, num_warps=2, num_stages=3; BLOCK=2097152" in ran.out
    assert "Triton's autotuner does not pass over this: a launch that tunes raises it" in ran.out
    assert (
        'portcheck: scale: 6 of 6 configurations for each of 2 targets: 12 compiles; configs = "first" would take 2'
        in ran.err
    )


def test_the_second_run_imports_nothing(own: Project) -> None:
    (own.folder / "sitecustomize.py").write_text("")  # nothing reads it: the manifest's folder comes last

    ran = own.check()

    assert set(ran.origins.values()) == {"cached"}
    assert ran.cells["scale@cuda:90"]["configs"]["ok"] == 4
    assert "compiles" not in ran.err


def test_a_configuration_written_out_is_the_same_cell(own: Project) -> None:
    own.write({"portcheck.toml": MANIFEST + AS_WRITTEN})

    ran = own.check()

    assert set(ran.origins.values()) == {"cached"}
    assert ran.cells["written@cuda:90"]["configs"] is None


def test_a_new_configuration_is_all_that_is_compiled(own: Project) -> None:
    own.write({"warps.txt": "2 4 8"})

    assert "6 of 9 configurations" not in own.check("--dry-run").out  # what it chooses from is not known before
    ran = own.check()

    assert ran.cells["scale@cuda:90"]["configs"]["of"] == 9
    assert "6 compiles, about" in ran.err
    assert "12 are known" in ran.err


def test_what_pruning_reads_decides_what_there_is(own: Project) -> None:
    own.write({"largest.txt": "64"})

    ran = own.check()

    assert ran.cells["scale@cuda:90"]["configs"] == {
        "ok": 2,
        "of": 2,
        "total": 2,
        "shown": "BLOCK=64, num_warps=2, num_stages=3",
        "failed": [],
    }
    assert set(ran.origins.values()) == {"cached"}  # each of them was


@pytest.mark.parametrize(
    ("setting", "counts"),
    [
        ('configs = "first"', (1, 1, 6)),
        ('configs = "extremes"', (2, 3, 6)),  # the smallest with two and with four warps, and the largest
        ('configs = "sample:3"', None),
    ],
)
def test_fewer_can_be_asked_for(own: Project, setting: str, counts: tuple[int, int, int] | None) -> None:
    own.write({"portcheck.toml": MANIFEST.replace('configs = "all"', setting)})

    ran = own.check()

    configs = ran.cells["scale@cuda:90"]["configs"]
    assert configs["of"] == (counts[1] if counts else 3)
    assert counts is None or (configs["ok"], configs["of"], configs["total"]) == counts
    assert set(ran.origins.values()) == {"cached"}
    assert f"{2 * configs['of']} of 12 configurations of 2 cells were compiled" in ran.out


def test_all_of_them_can_have_to_compile(own: Project) -> None:
    own.write({"portcheck.toml": MANIFEST.replace("configs", 'autotune = "all"\nconfigs')})

    ran = own.check()

    assert ran.status == 1
    assert set(ran.verdicts.values()) == {("frontend-error", "frontend")}
    assert ran.failure("scale@cuda:90")["message"] == TOO_LARGE
    assert ran.cells["scale@cuda:90"]["configs"]["shown"] == "BLOCK=2097152, num_warps=2, num_stages=3"


def test_explain_lists_what_fails(own: Project) -> None:
    with own.start("explain", "scale@cuda:90") as process:
        out, err = process.communicate(timeout=60)

    assert process.returncode == 0, err
    assert "4 of 6 compile, of 6 that a launch chooses from" in out
    assert f"BLOCK=2097152, num_warps=4, num_stages=3: frontend-error in frontend: {TOO_LARGE}" in out


def test_the_shown_configuration_s_ir_is_kept(own: Project) -> None:
    ran = own.check("--save-ir", "ir")

    assert ran.status == 0
    (ttir,) = Path(own.folder, "ir").rglob("*cuda*90*/ttir*")
    assert "tensor<64xf32>" in ttir.read_text()


def test_the_audit_runs_the_front_end_of_what_is_shown(own: Project) -> None:
    ran = own.check("--audit", "2")

    assert ran.status == 0
    assert "2 verdicts from records agree with their front ends" in ran.out


def test_a_row_whose_configurations_cannot_be_told_says_why(make_project: Callable[[], Project]) -> None:
    project = make_project()
    wide = KERNELS.replace('args["y"] is not None', 'args["n"] > 64')
    project.write({**files(), "kernels.py": wide})

    ran = project.check("-t", "cuda:90")

    why = (
        "its configurations cannot be told: @triton.heuristics, for MASKED: depends on n, which the row does not say: "
        "give its value in constants, or that of MASKED"
    )
    assert ran.status == 1
    assert ran.verdicts == {"scale@cuda:90": ("options-error", "options")}
    assert ran.failure("scale@cuda:90")["message"] == why
    assert project.check("-t", "cuda:90").origins == {"scale@cuda:90": "cached"}
    assert project.check("-t", "cuda:90", "--force").origins == {"scale@cuda:90": "compiled"}


def test_a_row_that_gives_half_of_a_configuration_is_a_mistake(project: Project) -> None:
    project.write(files(MANIFEST + "constants = { BLOCK = 64 }\n"))

    ran = project.check()

    assert ran.status == 2
    assert (
        'portcheck: portcheck.toml: kernel "scale": the kernel is autotuned, and its configurations set BLOCK as this '
        "row does: leave that out, or give num_stages, num_warps too to compile the row as written"
    ) in ran.err


def test_a_pruning_function_that_never_ends_is_a_timeout(project: Project) -> None:
    endless = KERNELS.replace("**kwargs):\n", "**kwargs):\n    while True: pass\n")
    project.write({**files(), "kernels.py": endless})

    ran = project.check("-t", "cuda:90", "--timeout", "3")

    assert ran.verdicts == {"scale@cuda:90": ("timeout", "options")}


def test_doit_does_the_same(own: Project) -> None:
    own.write(
        {
            "dodo.py": """
            from portcheck.rules import DOIT_CONFIG, portcheck_suite

            globals().update(portcheck_suite(manifest="portcheck.toml"))
            """
        }
    )

    with own.start_doit("report", "-o", "doit.json") as process:
        process.communicate(timeout=60)

    cells = json.loads((own.folder / "doit.json").read_text())["cells"]
    assert [(cell["verdict"], cell["from"], cell["configs"]["ok"]) for cell in cells] == [("ok", "cached", 4)] * 2

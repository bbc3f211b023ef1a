"""What is certain to fail before anything is compiled, as a user asks for it, compared with what compiling gives."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Project, Ran

HEAD = """
import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton.language.extra import libdevice as ld
from triton.language.extra.cuda import libdevice as nvidia
from triton.language import target_info
from triton.language.target_info import is_hip

FP8 = tl.constexpr(tl.float8e4nv)
WIDE = tl.constexpr(False)

@triton.jit
def gamma(x):
    return libdevice.tgamma(x)
"""
# Row → what stands in the kernel between loading `v` and storing it; `FLAG` is a constant, true in every row.
BODIES = {
    "plain": "v = libdevice.tgamma(v)",
    "alias": "v = ld.tgamma(v)",
    "helper": "v = gamma(v)",
    "flag": "if FLAG:\n    v = libdevice.tgamma(v)",
    "loop": "for _ in range(2):\n    v = libdevice.tgamma(v)",
    "both_branches": "if n > 3:\n    v = libdevice.tgamma(v)",
    "on_hip": "if is_hip():\n    v = libdevice.tgamma(v)",
    "not_cuda": "if not target_info.is_cuda():\n    v = libdevice.tgamma(v)",
    "fp8": "v = v.to(tl.float8e4nv).to(tl.float32)",
    "fp8_global": "v = v.to(FP8).to(tl.float32)",
    # What follows compiles, wherever the function or the type is missing.
    "off_hip": "if not is_hip():\n    v = libdevice.tgamma(v)",
    "else": "if is_hip():\n    v = v * 2\nelse:\n    v = libdevice.tgamma(v)",
    "helper_off_hip": "if target_info.is_cuda():\n    v = gamma(v)",
    "expression": "v = v * 2 if is_hip() else gamma(v)",
    "and": "if FLAG and not is_hip():\n    v = libdevice.tgamma(v)",
    "or": "if is_hip() or not FLAG:\n    v = v * 2\nelse:\n    v = gamma(v)",
    "off_flag": "if not FLAG:\n    v = libdevice.tgamma(v)",
    "off_global": "if WIDE:\n    v = libdevice.tgamma(v)",
    "capable": "if target_info.cuda_capability_geq(8, 9):\n    v = v.to(tl.float8e4nv).to(tl.float32)",
    "both_have_it": "v = libdevice.exp(v)",
    "another_type": "v = v.to(tl.float8e5).to(tl.float32)",
}
TARGETS = ("cuda:80", "cuda:90", "hip:gfx942")
ON_HIP = {f"{row}@hip:gfx942" for row in list(BODIES)[:8]}
EXPECTED = ON_HIP | {"fp8@cuda:80", "fp8_global@cuda:80"}


def kernels() -> str:
    """A kernel for each body."""
    parts = [HEAD]
    for row, body in BODIES.items():
        parts.append(
            f"\n@triton.jit\ndef k_{row}(x, n, FLAG: tl.constexpr):\n"
            "    at = tl.arange(0, 64)\n    v = tl.load(x + at)\n"
            f"{textwrap.indent(body, '    ')}\n    tl.store(x + at, v)\n"
        )
    return "".join(parts)


def manifest() -> str:
    rows = [f"[defaults]\ntargets = {list(TARGETS)}\n"]
    for row in BODIES:
        rows.append(
            f'[[kernel]]\nname = "{row}"\ntarget = "kernels.py:k_{row}"\n'
            'signature = { x = "*fp32:16", n = "i32" }\nconstants = { FLAG = true }\n'
        )
    return "\n".join(rows)


@pytest.fixture(scope="module")
def suite(make_project: Callable[[], Project]) -> Project:
    project = make_project()
    project.write({"kernels.py": kernels(), "portcheck.toml": manifest()})
    return project


@pytest.fixture(scope="module")
def foretold(suite: Project) -> Ran:
    """With nothing compiled; before anything was."""
    return suite.check("--static", "only")


@pytest.fixture(scope="module")
def compiled(suite: Project, foretold: Ran) -> Ran:
    """Everything compiled, and predictions compared with that."""
    return suite.check()


def predicted(ran: Ran) -> set[str]:
    return {name for name, origin in ran.origins.items() if origin == "predicted"}


def test_what_is_predicted_is_what_fails(foretold: Ran, compiled: Ran) -> None:
    assert predicted(foretold) == EXPECTED
    assert {name for name, (verdict, _) in compiled.verdicts.items() if verdict != "ok"} == EXPECTED


def test_a_function_that_a_module_names_is_looked_up_for_every_kernel_of_it(project: Project) -> None:
    head = HEAD + "\ntgamma = libdevice.tgamma\n"  # from 3.2 on: also by those that do not mention it
    project.write({"kernels.py": kernels().replace(HEAD, head), "portcheck.toml": manifest()})

    foretold = project.check("-k", "both_have_it", "--static", "only")
    compiled = project.check("-k", "both_have_it")

    assert predicted(foretold) == {"both_have_it@hip:gfx942"}
    assert compiled.verdicts["both_have_it@hip:gfx942"] == ("frontend-error", "frontend")


def test_a_prediction_is_in_the_words_of_the_failure(foretold: Ran, compiled: Ran) -> None:
    for name in EXPECTED:
        assert foretold.verdicts[name] == compiled.verdicts[name]
        for part in ("fingerprint", "source"):
            assert foretold.cells[name][part] == compiled.cells[name][part]
        assert foretold.failure(name)["message"] == compiled.failure(name)["message"]


def test_without_compiling_nothing_is_green(foretold: Ran) -> None:
    assert foretold.status == 1
    assert foretold.report is not None
    summary = foretold.report["summary"]
    assert (summary["ok"], summary["failed"], summary["predicted"]) == (0, len(EXPECTED), len(EXPECTED))
    assert summary["skipped"] == summary["cells"] - len(EXPECTED)
    assert foretold.verdicts["both_have_it@cuda:90"] == (None, None)
    assert "nothing was compiled, so 53 cells have no verdict and may fail all the same" in foretold.out


def test_how_many_came_true_is_told(compiled: Ran) -> None:
    assert compiled.report is not None
    assert compiled.report["summary"]["static"] == {"predicted": 10, "came_true": 10}
    assert "static: predicted 10 failing cells before compiling; 10 of them did fail" in compiled.out


def test_nothing_predicted_is_taken_for_a_verdict_later(suite: Project, foretold: Ran, compiled: Ran) -> None:
    assert set(compiled.origins.values()) == {"compiled"}  # after `only` had predicted


def test_what_is_certain_to_fail_need_not_be_compiled(make_project: Callable[[], Project]) -> None:
    project = make_project()
    project.write({"kernels.py": kernels(), "portcheck.toml": manifest()})

    ran = project.check("--static", "skip", "-k", "plain", "-k", "fp8")

    assert ran.origins == {
        **{f"plain@{target}": "compiled" for target in TARGETS},
        **{f"fp8@{target}": "compiled" for target in TARGETS},
        "plain@hip:gfx942": "predicted",
        "fp8@cuda:80": "predicted",
    }
    assert ran.status == 1


def test_no_prediction_is_frozen(suite: Project, compiled: Ran) -> None:
    status, _, err = suite.doit("baseline", "-o", "frozen.toml", "static=skip")

    assert status != 0 or "static" in err
    assert not (suite.folder / "frozen.toml").exists()


@pytest.mark.parametrize("flag", [["--force"], ["--audit", "3"], ["--save-ir", "ir"]])
def test_what_asks_for_compiling_does_not_go_with_only(suite: Project, flag: list[str]) -> None:
    ran = suite.check("--static", "only", *flag)

    assert (ran.status, ran.out) == (2, "")
    assert f"{flag[0]}: --static only compiles nothing" in ran.err


def test_a_module_that_cannot_be_imported_is_red_with_nothing_compiled(project: Project) -> None:
    project.write({"kernels.py": "import not_there", "portcheck.toml": manifest()})

    ran = project.check("--static", "only", "-k", "plain", "-t", "cuda:90")

    assert ran.verdicts == {"plain@cuda:90": ("import-error", "import")}

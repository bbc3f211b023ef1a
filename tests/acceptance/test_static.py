"""Predictions against what compiling says: none is wrong, and guards on the target are understood."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.conftest import Project, Ran

KERNELS = Path(__file__).with_name("static_kernels.py")
TARGETS = ("cuda:80", "cuda:90", "hip:gfx942")
# row: function, further constants, where it is predicted to fail; the row's name says more than the function's
ROWS = {
    "else": ("if_else", "", ""),
    "not": ("not_hip", "", ""),
    "is_cuda": ("cuda_only", "", ""),
    "and": ("both_and", "FAST = true", ""),
    "and, given false": ("both_and", "FAST = false", ""),
    "or": ("both_or", "FAST = true", ""),
    "or, given false": ("both_or", "FAST = false", ""),
    "conditional": ("conditional", "", ""),
    "nested": ("nested", "", ""),
    "handed to a helper": ("passed_on", "", ""),
    "a return guards nothing": ("early", "", "hip:gfx942"),
    "constexpr name": ("named", "", ""),
    "assignment makes it a run-time value": ("assigned", "", "hip:gfx942"),
    "static_assert": ("asserted", "", "hip:gfx942"),
    "capability": ("capability", "", ""),
    "capability, major only": ("capability_one", "", ""),
    "capability, too low": ("capability_wrong", "", "cuda:80"),
    "compared": ("compare_guard", "", ""),
    "current_target": ("current", "", ""),
    "through a module": ("through_module", "", "hip:gfx942"),
    "local name": ("local_name", "", ""),
    "fp8": ("typed", 'DT = { dtype = "fp8e4nv" }', "cuda:80"),
    "fp32": ("typed", 'DT = { dtype = "fp32" }', ""),
    "fp8 zeros": ("zeros", 'DT = { dtype = "fp8e4nv" }', "cuda:80"),
    "fp8 mentioned": ("mentioned", 'DT = { dtype = "fp8e4nv" }', ""),
    "run-time condition": ("loop", "", "hip:gfx942"),
    "no turn": ("static_loop", "N = 0", ""),
    "two turns": ("static_loop", "N = 2", "hip:gfx942"),
    "none": ("none_arg", "m = { none = true }", ""),
    "not none": ("none_arg", "", "hip:gfx942"),
}
PREDICTED = {f"{row}@{target}" for row, (_, _, where) in ROWS.items() for target in where.split()}
FURTHER = {"loop": ', n = "i32"', "none_arg": ', m = "*fp32"'}
DODO = """
from portcheck.rules import DOIT_CONFIG, portcheck_suite

globals().update(portcheck_suite(manifest="portcheck.toml", baseline="baseline.toml", json="report.json"))
"""


def manifest() -> str:
    """All rows."""
    parts = [f"[defaults]\ntargets = {list(TARGETS)}\n"]
    for row, (function, constants, _) in ROWS.items():
        further = "" if "m =" in constants else FURTHER.get(function, "")
        parts.append(f'[[kernel]]\nname = "{row}"\ntarget = "kernels.py:{function}"\n')
        parts.append(f'signature = {{ x = "*fp32"{further} }}\nconstants = {{ {constants} }}\n')
    return "\n".join(parts)


@pytest.fixture(scope="module")
def project(make_project: Callable[[], Project]) -> Project:
    """The kernels and their manifest."""
    made = make_project()
    made.write({"kernels.py": KERNELS.read_text(), "portcheck.toml": manifest()})
    return made


@pytest.fixture(scope="module")
def only(project: Project) -> Ran:
    """Predictions with an empty cache."""
    return project.check("--static", "only")


@pytest.fixture(scope="module")
def shown(project: Project, only: Ran) -> Ran:
    """Everything compiled afterwards."""
    return project.check()


def names(ran: Ran, **wanted: Any) -> set[str]:
    """ROW@TARGET of the cells with these values."""
    assert ran.report is not None, ran.err
    cells = [cell for cell in ran.report["cells"] if all(cell[key] == value for key, value in wanted.items())]
    return {cell["cell"].rpartition("@")[0] for cell in cells}


def test_what_is_certain_to_fail_is_predicted_and_nothing_else(only: Ran) -> None:
    assert names(only, **{"from": "predicted"}) == PREDICTED
    assert names(only, status="new") == PREDICTED


def test_what_is_not_predicted_has_no_verdict_and_is_not_green(only: Ran) -> None:
    assert only.report is not None
    summary = only.report["summary"]

    assert names(only, verdict="ok") == set()
    assert names(only, verdict=None, status=None, **{"from": "skipped"}) == names(only) - PREDICTED
    assert (summary["ok"], summary["predicted"]) == (0, len(PREDICTED))
    assert summary["static"] == {"predicted": len(PREDICTED), "came_true": 0}
    assert "nothing was compiled" in only.out
    assert only.status == 1


def test_every_prediction_comes_true_in_the_words_of_the_compiler(only: Ran, shown: Ran) -> None:
    assert shown.report is not None and only.report is not None
    alike = {c["cell"] for c in only.report["cells"] if c["fingerprint"]} - {"static_assert@hip:gfx942@3.9.0"}

    assert names(shown, verdict="frontend-error") == PREDICTED
    assert names(shown, **{"from": "predicted"}) == set()
    assert shown.report["summary"]["static"] == {"predicted": len(PREDICTED), "came_true": len(PREDICTED)}
    assert f"predicted {len(PREDICTED)} failing cells before compiling; {len(PREDICTED)} of them did fail" in shown.out
    assert {c["cell"]: c["fingerprint"] for c in shown.report["cells"] if c["cell"] in alike} == {
        c["cell"]: c["fingerprint"] for c in only.report["cells"] if c["cell"] in alike
    }


def test_records_of_verdicts_are_no_predictions(project: Project, shown: Ran) -> None:
    again = project.check("--static", "only")

    assert names(again, **{"from": "predicted"}) == PREDICTED
    assert names(again, verdict="ok") == set()


def test_skipping_compiles_the_rest_and_files_no_prediction(make_project: Callable[[], Project]) -> None:
    project = make_project()
    project.write({"kernels.py": KERNELS.read_text(), "portcheck.toml": manifest()})
    rows = ("-k", "fp8", "-k", "else")

    first = project.check("--static", "skip", *rows)
    second = project.check(*rows)

    assert names(first, **{"from": "predicted"}) == {"fp8@cuda:80"}
    assert len(names(first, **{"from": "compiled"})) == 5
    assert "predicted 1 failing cell, which was not compiled" in first.out
    assert names(second, **{"from": "compiled"}) == {"fp8@cuda:80"}
    assert names(second, **{"from": "predicted"}) == set()


def test_a_prediction_is_not_frozen_into_a_baseline(project: Project, shown: Ran) -> None:
    project.write({"dodo.py": DODO})

    with project.start_doit("baseline", "static=skip") as process:
        _, err = process.communicate(timeout=300)

    assert "static=skip: a baseline is made of verdicts" in err
    assert not (project.folder / "baseline.toml").exists()


def test_doit_takes_it_too(project: Project, shown: Ran) -> None:
    project.write({"dodo.py": DODO})

    with project.start_doit("portcheck", "static=only") as process:
        out, _ = process.communicate(timeout=300)
    report = json.loads((project.folder / "report.json").read_text())
    with project.start_doit("portcheck", "static=olny") as process:
        _, wrong = process.communicate(timeout=300)

    assert "nothing was compiled" in out
    assert report["summary"]["predicted"] == len(PREDICTED)
    assert "static=olny: has to be one of show, skip, only" in wrong


@pytest.mark.parametrize("flag", [("--force",), ("--audit", "2"), ("--save-ir", "ir")])
def test_what_needs_a_compile_is_refused(project: Project, flag: tuple[str, ...]) -> None:
    ran = project.check("--static", "only", *flag)

    assert ran.status == 2
    assert "--static only compiles nothing" in ran.err


def test_replaced_parts_of_triton_end_all_predictions(make_project: Callable[[], Project]) -> None:
    project = make_project()
    fill = "from triton.language.extra.hip import libdevice as _hip\n_hip.tgamma = _hip.exp\n\n\n"
    source = KERNELS.read_text()
    project.write({"kernels.py": source.replace("@triton.jit\ndef if_else", f"{fill}@triton.jit\ndef if_else")})
    project.write({"portcheck.toml": manifest()})

    ran = project.check("--static", "only", "-k", "two turns")

    assert names(ran, **{"from": "predicted"}) == set()

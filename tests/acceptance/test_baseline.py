"""`portcheck baseline`, `check --baseline` and `report`: from freezing failures to pruning the last of them."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from tests.acceptance.copies import KERNELS

if TYPE_CHECKING:
    from tests.conftest import Project

MANIFEST = """
    [defaults]
    targets = ["cuda:90", "hip:gfx942"]

    [[kernel]]
    name = "copy"
    target = "kernels.py:copy"
    signature = { x = "*fp32", y = "*fp32" }

    [[kernel]]
    name = "tgamma"
    target = "kernels.py:tgamma"
    signature = { x = "*fp32" }
"""
FIXED = KERNELS.replace("libdevice.tgamma(tl.load(x))", "tl.load(x)")
DIFFERENT = KERNELS.replace("libdevice.tgamma(", "libdevice.no_such_function(")
BROKEN_COPY = KERNELS.replace("tl.store(y, tl.load(x))", "tl.store(y, tl.no_such_function(x))")


def frozen(project: Project) -> dict[str, Any]:
    """The cells of the baseline."""
    cells: dict[str, Any] = tomllib.loads((project.folder / "baseline.toml").read_text())["cells"]
    return cells


@pytest.fixture
def known(project: Project) -> Project:
    """A project whose one failure is in its baseline."""
    project.write({"portcheck.toml": MANIFEST, "kernels.py": KERNELS})
    status, out, _ = project.portcheck("baseline", "-o", "baseline.toml")
    assert (status, out) == (0, "baseline.toml: 1 known failure (1 added)\n")
    return project


def test_what_is_known_fails_nothing_and_what_is_new_does(known: Project) -> None:
    ran = known.check("--baseline", "baseline.toml")

    assert ran.status == 0
    assert ran.report is not None
    assert (ran.report["summary"]["known"], ran.report["summary"]["new"]) == (1, 0)
    assert ran.cells["tgamma@hip:gfx942"]["status"] == "known"
    assert known.check().status == 1

    known.write({"kernels.py": BROKEN_COPY})
    ran = known.check("--baseline", "baseline.toml")

    assert ran.status == 1
    assert [name for name, cell in ran.cells.items() if cell["status"] == "new"] == ["copy@cuda:90", "copy@hip:gfx942"]


def test_a_known_cell_that_fails_differently_is_new(known: Project) -> None:
    known.write({"kernels.py": DIFFERENT})

    ran = known.check("--baseline", "baseline.toml", "-t", "hip:*")

    assert ran.status == 1
    assert ran.cells["tgamma@hip:gfx942"]["status"] == "new"
    assert "new: the baseline knows these cells to fail differently: frontend-error in frontend: module" in ran.out


def test_what_no_longer_fails_is_told_and_pruned(known: Project) -> None:
    known.write({"kernels.py": FIXED})

    ran = known.check("--baseline", "baseline.toml")

    assert ran.status == 0
    assert "In the baseline, but no longer failing: portcheck baseline --prune takes them out" in ran.out
    assert "   tgamma on hip:gfx942\n" in ran.out

    known.write({"kernels.py": FIXED.replace("tl.store(y, tl.load(x))", "tl.store(y, tl.no_such_function(x))")})
    status, out, _ = known.portcheck("baseline", "-o", "baseline.toml", "--prune")

    assert status == 0
    assert "0 known failures (1 taken out)" in out
    assert "2 new failures not added: --prune only takes out" in out
    assert frozen(known) == {}
    assert known.check("--baseline", "baseline.toml").status == 1


def test_entries_of_what_is_not_selected_are_left_alone(known: Project) -> None:
    known.write({"kernels.py": BROKEN_COPY})

    ran = known.check("--baseline", "baseline.toml", "-k", "copy", "-t", "cuda:90")
    status, out, _ = known.portcheck("baseline", "-o", "baseline.toml", "-k", "copy", "-t", "cuda:90")

    assert "In the baseline" not in ran.out
    assert (status, out) == (0, "baseline.toml: 2 known failures (1 added)\n")
    assert [cell.rpartition("@")[0] for cell in frozen(known)] == ["copy@cuda:90", "tgamma@hip:gfx942"]


def test_an_entry_of_a_row_that_is_gone_is_stale(known: Project) -> None:
    known.write({"portcheck.toml": MANIFEST.replace('name = "tgamma"', 'name = "gamma"')})

    ran = known.check("--baseline", "baseline.toml", "-k", "copy")
    _, _, freezing = known.portcheck("baseline", "-o", "baseline.toml", "-k", "copy")
    _, pruning, _ = known.portcheck("baseline", "-o", "baseline.toml", "-k", "copy", "--prune")

    assert "In the baseline, but no longer in the manifest" in ran.out
    assert "1 cell of it no longer in the manifest: --prune takes them out" in freezing
    assert "0 known failures (1 taken out)" in pruning


def test_xfail_wins_over_the_baseline(known: Project) -> None:
    xfail = 'xfail = [{ target = "hip:*", triton = ">=3", reason = "no tgamma on AMD" }]'
    known.write({"portcheck.toml": MANIFEST + f"    {xfail}\n"})

    ran = known.check("--baseline", "baseline.toml")

    assert ran.status == 0
    assert ran.cells["tgamma@hip:gfx942"]["status"] == "xfail"
    assert ran.cells["tgamma@hip:gfx942"]["expected"]["reason"] == "no tgamma on AMD"
    assert "   expected: no tgamma on AMD\n" in ran.out
    assert "In the baseline, but expected by xfail anyway" in ran.out


def test_freezing_the_same_again_writes_nothing(known: Project) -> None:
    before = (known.folder / "baseline.toml").stat().st_mtime_ns

    status, _, err = known.portcheck("baseline", "-o", "baseline.toml")

    assert status == 0
    assert "baseline.toml: unchanged, not written again" in err
    assert (known.folder / "baseline.toml").stat().st_mtime_ns == before


@pytest.mark.parametrize("command", [("check", "--baseline"), ("baseline", "-o"), ("report", "--baseline")])
def test_a_broken_baseline_is_one_line(known: Project, command: tuple[str, str]) -> None:
    known.write({"broken.toml": "<<<<<<< ours\n"})

    status, out, err = known.portcheck(*command, "broken.toml")

    assert (status, out) == (2, "")
    assert err.startswith("portcheck: broken.toml: is no baseline: ")
    assert err.count("\n") == 1


def test_a_report_is_from_the_cache_alone(known: Project) -> None:
    status, out, _ = known.portcheck("report", "--baseline", "baseline.toml", "--json", "cached.json")

    assert status == 0
    assert "4 cells: 3 ok, 1 failed (1 known)" in out
    assert {cell["from"] for cell in json.loads((known.folder / "cached.json").read_text())["cells"]} == {"cached"}

    status, _, err = known.portcheck("report", "--baseline", "baseline.toml", "--json", "cached.json")
    assert "cached.json: unchanged, not written again" in err

    known.write({"kernels.py": BROKEN_COPY})
    status, out, err = known.portcheck("report", "--baseline", "baseline.toml", "--json", "cached.json")
    report = json.loads((known.folder / "cached.json").read_text())

    assert status == 1
    assert "portcheck: 4 of 4 cells have no record: portcheck check compiles them\n" in err
    assert "copy    missing  missing\n" in out
    assert (len(report["missing"]), report["summary"]["skipped"]) == (4, 4)

"""No cell compiles twice, and no hit is ever wrong: what a comment, a helper, a local and another checkout cost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from portcheck import cellkeys
from portcheck.cells import Cell
from portcheck.resolution import Resolution
from portcheck.rules.execute import execute
from portcheck.rules.request import Request
from portcheck.rules.run import Run
from tests.conftest import Project

OPS = """
import triton

@triton.jit
def double(x):
    return x * 2

@triton.jit
def increment(x):
    return x + 1
"""
KERNELS = """
import triton
import triton.language as tl
from ops import double, increment
from triton.language.extra import libdevice

@triton.jit
def doubled(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(x_ptr + at, double(x), mask=at < n)

@triton.jit
def gamma(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(x_ptr + at, increment(libdevice.tgamma(x)), mask=at < n)

@triton.jit
def silent(x_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    y = tl.inline_asm_elementwise("bad.instruction $0, $1;", "=r,r", [x], dtype=tl.float32, is_pure=True, pack=1)
    tl.store(x_ptr + at, y)
"""
ROWS = ("doubled", "gamma", "silent")
MANIFEST = '[defaults]\ntargets = ["cuda:90", "hip:gfx942"]\n' + "\n".join(
    f'[[kernel]]\nname = "{row}"\ntarget = "kernels.py:{row}"\n'
    f'signature = {{ x_ptr = "*fp32:16"{"" if row == "silent" else ", n = " + chr(34) + "i32" + chr(34)} }}\n'
    "constants = { BLOCK = 64 }\n"
    for row in ROWS
)


@pytest.fixture
def ladder(project: Project) -> Project:
    """A project that was checked once."""
    project.write({"ops.py": OPS, "kernels.py": KERNELS, "portcheck.toml": MANIFEST})
    first = project.check()
    assert first.verdicts["gamma@hip:gfx942"] == ("frontend-error", "frontend")
    assert first.verdicts["silent@cuda:90"] == ("assembler-error", "cubin")
    return project


def line_of(project: Project, text: str) -> int:
    lines = (project.folder / "kernels.py").read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


EDITS_WITHOUT_EFFECT = {
    "lines above": lambda text: text.replace(
        "\n@triton.jit\ndef gamma", "\n\n# moved down\n\n\n@triton.jit\ndef gamma"
    ),
    "a comment inside": lambda text: text.replace("    tl.store", "    # now store it\n    tl.store"),
    "another layout": lambda text: text.replace(
        "tl.store(x_ptr + at, increment(libdevice.tgamma(x)), mask=at < n)",
        "tl.store(\n        x_ptr + at,\n        increment(\n            libdevice.tgamma(x)),\n        mask=at < n)",
    ).replace("    y = tl.inline", "\n    y = tl.inline"),
}


@pytest.mark.parametrize("what", EDITS_WITHOUT_EFFECT)
def test_an_edit_without_effect_compiles_nothing_and_positions_follow(ladder: Project, what: str) -> None:
    ladder.write({"kernels.py": EDITS_WITHOUT_EFFECT[what](KERNELS)})

    again = ladder.check()

    assert set(again.origins.values()) == {"cached"}
    assert f"at kernels.py:{line_of(ladder, 'libdevice.tgamma')}:" in again.out
    assert f"at kernels.py:{line_of(ladder, 'tl.inline_asm')}" in again.out


def test_a_changed_helper_compiles_exactly_its_callers(ladder: Project) -> None:
    ladder.write({"ops.py": OPS.replace("x * 2", "x * 3")})

    again = ladder.check("-v")

    assert {name for name, origin in again.origins.items() if origin == "compiled"} == {
        "doubled@cuda:90",
        "doubled@hip:gfx942",
    }
    assert "doubled@cuda:90@3.9.0: ok (compiled: function double in ops.py changed)" in again.err


def test_a_renamed_local_runs_the_front_end_only(ladder: Project) -> None:
    body = KERNELS.index("def doubled"), KERNELS.index("def gamma")
    renamed = KERNELS[body[0] : body[1]].replace("x = tl", "value = tl").replace("double(x)", "double(value)")
    ladder.write({"kernels.py": KERNELS[: body[0]] + renamed + KERNELS[body[1] :]})

    again = ladder.check()

    assert again.origins["doubled@cuda:90"] == again.origins["doubled@hip:gfx942"] == "cutoff"
    assert set(again.origins.values()) == {"cached", "cutoff"}


def test_explain_names_what_changed(ladder: Project) -> None:
    ladder.write({"ops.py": OPS.replace("x * 2", "x * 3")})

    status, out, _ = ladder.portcheck("explain", "doubled@cuda:90")

    assert "function double in ops.py changed" in out
    assert "the kernel is closed" in out
    assert status == 0


def test_explain_names_what_makes_a_kernel_open(ladder: Project) -> None:
    reader = "\n@triton.constexpr_function\ndef read(): return len(os.environ.get('X', '1'))\n"
    ladder.write({"kernels.py": "import os\n" + KERNELS.replace("double(x)", "double(x) * read()") + reader})

    _, out, _ = ladder.portcheck("explain", "doubled@cuda:90")

    assert "the kernel is open" in out
    assert "os" in out


def test_another_checkout_gets_everything_from_a_shared_directory(
    project: Project, make_project: Callable[[], Project], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write({"ops.py": OPS, "kernels.py": KERNELS, "portcheck.toml": MANIFEST})
    shared = f"file://{tmp_path}/shared"
    first = project.check("--remote", shared)
    other = make_project()
    other.write({"deep/er/ops.py": OPS, "deep/er/kernels.py": KERNELS, "deep/er/portcheck.toml": MANIFEST})
    monkeypatch.setenv("PORTCHECK_CACHE", str(other.cache))
    monkeypatch.setattr("portcheck.compiler.tree.Root.start", _no_child)

    run = Run(Request(other.folder / "deep/er/portcheck.toml", remote=shared, quiet=True))
    assert execute(run) == first.status

    assert {result.origin for result in run.results.values()} == {"remote"}
    for name, result in run.results.items():
        before = first.cells[name.rpartition("@")[0]]
        assert {s: a.digest for s, a in result.outcome.artifacts.items()} == {
            s: a["digest"] for s, a in before["artifacts"].items()
        }


def _no_child(*_: object, **__: object) -> None:
    raise AssertionError("a child was started")


def test_a_shared_directory_that_is_not_there_changes_no_verdict(ladder: Project) -> None:
    (ladder.folder / "a file").write_text("")

    again = ladder.check("--remote", f"file://{ladder.folder}/a%20file", "--force")

    assert again.status == 1
    assert set(again.origins.values()) == {"compiled"}
    assert again.err.count("the remote cache is in trouble") == 1


def test_the_audit_finds_every_hit_in_order(ladder: Project) -> None:
    again = ladder.check("--audit", "100")

    assert again.status == 1  # two rows fail, as before
    assert "audit: 6 verdicts from records agree with their front ends" in again.out


def test_the_audit_catches_a_walk_that_sees_too_little(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project.write({"ops.py": OPS, "kernels.py": KERNELS, "portcheck.toml": MANIFEST})
    monkeypatch.setenv("PORTCHECK_CACHE", str(project.cache))
    sees = cellkeys.made_of

    def sees_no_helper(cell: Cell, resolution: Resolution) -> dict[str, Any]:
        parts = sees(cell, resolution)["kernel"]
        return {"kernel": {w: p for w, p in parts.items() if "ops" not in w and "own key" not in w}, "references": {}}

    monkeypatch.setattr(cellkeys, "made_of", sees_no_helper)
    request = Request(project.folder / "portcheck.toml", audit=10, quiet=True)
    assert execute(Run(request)) == 1

    project.write({"ops.py": OPS.replace("x * 2", "x * 3")})

    assert execute(Run(request)) == 3
    assert "audit: doubled@" in capsys.readouterr().err

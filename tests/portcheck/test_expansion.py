"""Which configurations a row has, from records and from what was just asked. Nothing is compiled here."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from portcheck.cache import Store
from portcheck.cells import Cell
from portcheck.chain import Chains
from portcheck.compiler.attempt import Attempt
from portcheck.compiler.job import Unit
from portcheck.compiler.tree import Imported
from portcheck.configurations import Configuration
from portcheck.digests import Digests
from portcheck.expansion import Expander, Expansion, launches
from portcheck.inputlists import InputLists
from portcheck.installed import Installed
from portcheck.keys import make_key
from portcheck.observer import Observer
from portcheck.resolution import Resolution, Resolver
from portcheck.target import Target
from portcheck.toolchain.imports import of_this

MakeCell = Callable[..., Cell]

KERNEL: dict[str, Any] = {
    "params": [{"name": name, "constexpr": name == "BLOCK", "default": False} for name in ("x", "BLOCK")],
    "tuned": ["BLOCK", "num_warps"],
    "computed": [],
    "options": {"cuda": ["num_warps"], "hip": ["num_warps"]},
    "parts": {},
    "open": [],
    "uses": [],
    "source": ["kernels.py", 1, 1],
}
ROW = 'signature = { x = "*fp32" }'
SMALL = {"label": "BLOCK=64", "constants": {"BLOCK": 64}, "options": {"num_warps": 1}, "signature": {}}


class Machine:
    """One run after another in a folder, each with what it has to find out anew."""

    def __init__(self, root: Path) -> None:
        self.folder, self.store = root / "project", Store(root / "cache", warn=lambda _: None)
        self.folder.mkdir()
        (self.folder / "kernels.py").write_text("k = 1")
        self.started = time.time() + 1  # what is written while it is read is not filed

    def run(self, *, unfit: tuple[str, ...] = ()) -> tuple[Expander, Resolution]:
        """An expander of a new run, and what importing the module gives."""
        digests = Digests(self.store, self.folder)
        observer = Observer(self.folder, None, InputLists(self.store), Installed((), digests, self.store), of_this())
        make = partial(make_key, salt="", toolchain="t")
        resolver = Resolver(Chains(self.store, "inputs", partial(make, "inputs")), observer, {}, "")
        unit = Unit("kernels.py", True, ("k",))
        read = (("file", str(self.folder / "kernels.py")),)
        imported = Imported(kernels={"k": KERNEL}, inputs=read, began=self.started, unfit=unfit)
        expander = Expander(Chains(self.store, "configs", partial(make, "configs")), observer, resolver)
        return expander, resolver.record(unit, Target("cuda", "90"), imported)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture
def cell(make_cell: MakeCell) -> Cell:
    return make_cell(ROW)


def asked(*configurations: dict[str, Any], unknown: str | None = None, **result: Any) -> Attempt:
    """What a child that enumerates has said."""
    told = {"unfit": [], **({"unknown": unknown} if unknown else {"configurations": list(configurations)}), **result}
    return Attempt("options", told, None, None, 0.1, "", "", ())


def test_what_was_asked_once_is_known_in_the_next_run(machine: Machine, cell: Cell) -> None:
    expander, resolution = machine.run()
    assert expander.look_up(cell, resolution) is None

    first = expander.record(cell, resolution, asked(SMALL))

    assert first == Expansion((Configuration(**SMALL),), asked=True)
    expander, resolution = machine.run()
    assert expander.look_up(cell, resolution) == Expansion((Configuration(**SMALL),))


def test_targets_choose_for_themselves(machine: Machine, cell: Cell, make_cell: MakeCell) -> None:
    expander, resolution = machine.run()
    expander.record(cell, resolution, asked(SMALL))

    assert expander.look_up(make_cell(ROW, "hip:gfx942"), resolution) is None


def test_why_nothing_can_be_told_is_known_too(machine: Machine, cell: Cell) -> None:
    expander, resolution = machine.run()
    expander.record(cell, resolution, asked(unknown="pruning: depends on n"))

    expander, resolution = machine.run()

    found = expander.look_up(cell, resolution)
    assert found == Expansion((), "pruning: depends on n")
    failure = launches(cell, found).failure
    assert failure is not None
    assert (failure.verdict, failure.message) == (
        "options-error",
        "its configurations cannot be told: pruning: depends on n",
    )


def test_a_kernel_without_configurations_is_no_green_row(machine: Machine, cell: Cell) -> None:
    expander, resolution = machine.run()

    found = launches(cell, expander.record(cell, resolution, asked()))

    assert found.cells == ()
    assert found.result([], "any").outcome.verdict == "options-error"


def test_a_changed_module_is_asked_again(machine: Machine, cell: Cell) -> None:
    expander, resolution = machine.run()
    expander.record(cell, resolution, asked(SMALL))

    (machine.folder / "kernels.py").write_text("k = 22")

    machine.started = time.time() + 1
    expander, resolution = machine.run()
    assert expander.look_up(cell, resolution) is None


def test_so_is_one_that_depends_on_more_than_can_be_recorded(machine: Machine, cell: Cell) -> None:
    expander, resolution = machine.run()
    expander.record(cell, resolution, asked(SMALL, unfit=["subprocess.Popen by kernels"]))

    expander, resolution = machine.run()

    assert expander.look_up(cell, resolution) is None


@pytest.mark.parametrize(
    "record",
    [
        {"configurations": [SMALL]},
        {"configurations": [{**SMALL, "options": None}], "unknown": None},
        {"configurations": "all", "unknown": None},
        {"configurations": [{"label": "BLOCK=64"}], "unknown": None},
    ],
)
def test_a_foreign_record_is_a_miss(machine: Machine, cell: Cell, record: dict[str, Any]) -> None:
    expander, resolution = machine.run()
    expander.record(cell, resolution, asked(SMALL))
    (path,) = (machine.folder.parent / "cache").rglob("configs/*/*")
    key = expander._first(cell, resolution)
    path.unlink()
    machine.store.put("configs", key.hex, key.preimage, record)

    expander, resolution = machine.run()

    assert expander.look_up(cell, resolution) is None

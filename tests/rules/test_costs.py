"""What configurations cost, in words."""

from __future__ import annotations

from portcheck.cells import Cell
from portcheck.expansion import Cost
from portcheck.manifest.model import KernelRef, Row, Settings
from portcheck.rules.costs import told
from portcheck.target import parse_target


def cell(target: str, configs: str = "all") -> Cell:
    row = Row(
        kernel="k",
        variant=None,
        ref=KernelRef(None, "kernels.py", "k"),
        signature={},
        constants={},
        options={},
        backend_options={},
        settings=Settings(targets=(), configs=configs),
        xfail=(),
        where='portcheck.toml: kernel "k"',
    )
    return Cell(row, parse_target(target), "3.9.0")


def test_targets_that_cost_the_same_are_told_together() -> None:
    cells = [cell(target) for target in ("cuda:80", "cuda:90")]
    costs = [(one, Cost(total=36, asked=36, unknown=35, seconds=70.4)) for one in cells]

    assert list(told(costs)) == [
        "k: 36 of 36 configurations for each of 2 targets: 70 compiles, about 141 s of compiling, 2 are known; "
        'configs = "first" would take 2'
    ]


def test_targets_that_prune_differently_are_told_apart() -> None:
    one, other = cell("cuda:75"), cell("cuda:90")

    assert list(told([(one, Cost(4, 4, 4, None)), (other, Cost(9, 9, 9, 2.0))])) == [
        'k: configurations: 4 of 4 for cuda:75, 9 of 9 for cuda:90: 13 compiles; configs = "first" would take 2'
    ]


def test_what_costs_nothing_more_is_not_told() -> None:
    assert not list(told([(cell("cuda:90", "first"), Cost(36, 1, 1, None))]))
    assert not list(told([(cell("cuda:90"), Cost(1, 1, 1, None))]))
    assert not list(told([(cell("cuda:90"), Cost(36, 36, 0, 0.0))]))

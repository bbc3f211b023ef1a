"""What compiles beside a failure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from portcheck.cells import Cell
from portcheck.manifest.model import Argument, KernelRef
from portcheck.report.model import Group, build
from portcheck.toolchain.model import Toolchain
from portcheck.verdicts import Failure, Result

Judge = Callable[..., tuple[Cell, Result]]
Tool = Callable[[str], Toolchain]
Judged = tuple[Cell, Result]

LIMIT = Failure("launch-limit", "launch", "asks for 131072 bytes of shared memory a block; cuda:89 grants 101376")


def with_row(judged: Judged, **fields: Any) -> Judged:
    """The same cell of a row of `kernels.py:attn` with other fields."""
    cell, result = judged
    row = replace(cell.row, ref=KernelRef(None, "kernels.py", "attn"), **fields)
    return replace(cell, row=row), result


def notes(judged: list[Judged], *toolchains: Toolchain) -> tuple[str, ...]:
    groups: tuple[Group, ...] = build(judged, toolchains, 1, lambda cell: None).groups
    assert len(groups) == 1
    return groups[0].notes


def test_other_targets_of_the_backend(judge: Judge, toolchain: Tool) -> None:
    judged = [judge("a@cuda:89@3.9.0", LIMIT), judge("a@cuda:90@3.9.0"), judge("a@hip:gfx950@3.9.0")]

    assert notes(judged, toolchain("3.9.0")) == ("a compiles for cuda:90",)


def test_targets_of_the_other_backend_where_this_one_has_none(judge: Judge, toolchain: Tool) -> None:
    judged = [judge("a@cuda:89@3.9.0", LIMIT), judge("a@hip:gfx942@3.9.0"), judge("a@hip:gfx950@3.9.0")]

    assert notes(judged, toolchain("3.9.0")) == ("a compiles for hip:gfx942, hip:gfx950",)


def test_another_release(judge: Judge, toolchain: Tool) -> None:
    judged = [
        *(judge(f"a@cuda:{arch}@3.9.0", LIMIT) for arch in (86, 89)),
        *(judge(f"a@cuda:{arch}@3.8.0") for arch in (86, 89)),
    ]

    said = notes(judged, toolchain("3.8.0"), toolchain("3.9.0"))

    assert said == ("a compiles with Triton 3.8.0",)


def test_a_variant_with_fewer_stages(judge: Judge, toolchain: Tool) -> None:
    judged = [
        with_row(judge("a[s3]@cuda:89@3.9.0", LIMIT), options={"num_stages": 3, "num_warps": 8}),
        with_row(judge("a[s2]@cuda:89@3.9.0"), options={"num_stages": 2, "num_warps": 8}),
    ]

    assert notes(judged, toolchain("3.9.0")) == ("a[s3] compiles with num_stages = 2 (a[s2])",)


def test_a_variant_with_another_constant_or_type(judge: Judge, toolchain: Tool) -> None:
    judged = [
        with_row(judge("a@cuda:89@3.9.0", LIMIT), constants={"BLOCK": 128}, signature={"x": Argument("*fp32")}),
        with_row(judge("a[small]@cuda:89@3.9.0"), constants={"BLOCK": 64}, signature={"x": Argument("*fp32")}),
        with_row(judge("a[half]@cuda:89@3.9.0"), constants={"BLOCK": 128}, signature={"x": Argument("*fp16")}),
        with_row(judge("a[both]@cuda:89@3.9.0"), constants={"BLOCK": 64}, signature={"x": Argument("*fp16")}),
    ]

    assert notes(judged, toolchain("3.9.0")) == (
        "a compiles with BLOCK = 64 (a[small])",
        "a compiles with x = *fp16 (a[half])",
    )


def test_options_that_only_the_other_backend_gets_are_no_difference(judge: Judge, toolchain: Tool) -> None:
    hip: Mapping[str, Any] = {"hip": {"waves_per_eu": 2}}
    judged = [
        with_row(judge("a@cuda:89@3.9.0", LIMIT), options={"num_stages": 3}, backend_options=hip),
        with_row(judge("a[s2]@cuda:89@3.9.0"), options={"num_stages": 2}),
    ]

    assert notes(judged, toolchain("3.9.0")) == ("a compiles with num_stages = 2 (a[s2])",)


def test_rows_of_which_the_same_is_to_be_said_share_a_sentence(judge: Judge, toolchain: Tool) -> None:
    judged = [judge(f"{row}@cuda:{arch}@3.9.0", LIMIT if arch == 89 else None) for row in "ab" for arch in (89, 90)]

    assert notes(judged, toolchain("3.9.0")) == ("a, b compile for cuda:90",)


def test_a_release_is_named_where_it_makes_a_difference(judge: Judge, toolchain: Tool) -> None:
    alike = [
        judge(f"a@cuda:{arch}@{of}", LIMIT if arch == 89 else None) for of in ("3.8.0", "3.9.0") for arch in (89, 90)
    ]
    other = [judge(f"a@cuda:{arch}@{of}", LIMIT if arch == 89 else None) for of, arch in (("3.8.0", 89), ("3.9.0", 89))]

    assert notes(alike, toolchain("3.8.0"), toolchain("3.9.0")) == ("a compiles for cuda:90",)
    assert notes([*other, alike[-1]], toolchain("3.8.0"), toolchain("3.9.0")) == (
        "a compiles for cuda:90 with Triton 3.9.0",
    )

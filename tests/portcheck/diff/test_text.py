"""A diff on a terminal."""

from __future__ import annotations

from collections.abc import Callable

from portcheck.diff.model import compare
from portcheck.diff.snapshot import Seen, Snapshot
from portcheck.diff.text import render

MakeSeen = Callable[..., Seen]


def _paragraphs(diff_text: str) -> list[str]:
    return diff_text.split("\n\n")


def test_the_demo_from_3_8_0_to_3_9_0(recorded: tuple[Snapshot, Snapshot]) -> None:
    head, regressed, fixed, numbers, totals, counts, _ = _paragraphs(render(compare(*recorded), color=False))

    assert " -> " in head
    assert regressed == (
        "3 regressed\n"
        "  rowsum_blockptr on cuda:80, cuda:90, hip:gfx942\n"
        "    frontend-error in frontend: Block pointers have been removed in favor of the tensor descriptor API"
    )
    assert fixed == (
        "3 fixed\n"
        "  poll_flags on cuda:80, cuda:90, hip:gfx942\n"
        "    was frontend-error in frontend: module 'triton.language' has no attribute 'atomic_load'"
    )
    # What changed most comes first, with every stage and resource that changed, in the order of the pipeline.
    assert numbers.splitlines()[1:3] == [
        "  gamma_ratio on cuda:80",
        "    registers 21 -> 22 (+5 %) · source 3604 -> 3494 (-3 %) · ttir 2285 -> 2255 (-1 %) · "
        "ttgir 2711 -> 2736 (+0.9 %) · llir 56233 -> 164552 (+193 %) · ptx 22306 -> 37620 (+69 %) · "
        "cubin 32368 -> 47352 (+46 %)",
    ]
    assert totals.startswith("all that compile on both sides: ")
    assert "cubin 221408 -> 277760 (+25 %)" in totals
    assert counts == (
        "27 cells: 3 regressed, 3 fixed, 0 fail differently, 21 unchanged · 0 slower to compile · 0 begin to spill"
    )


def test_spills_are_said_before_all_other_numbers(seen: MakeSeen) -> None:
    old = seen("k@cuda:90@3.8.0", spills=0, registers=100, seconds=1.0, sizes={"ptx": 10})
    new = seen("k@cuda:90@3.9.0", spills=24, registers=255, seconds=9.0, sizes={"ptx": 20})

    _, spills, slower, numbers, *_ = _paragraphs(
        render(compare(Snapshot("a", (old,)), Snapshot("b", (new,))), color=False)
    )

    assert spills == "1 begins to spill registers\n  k on cuda:90: spills 0 -> 24"
    assert slower == "1 slower to compile by more than 50 %\n  k on cuda:90: 1.00 s -> 9.00 s (+800 %)"
    assert "spills 0 -> 24 · registers 100 -> 255 (+155 %) · ptx 10 -> 20 (+100 %)" in numbers


def test_both_failures_are_shown_where_a_cell_fails_differently(seen: MakeSeen) -> None:
    old = seen("k@cuda:90@3.8.0", "mlir-error", fingerprint="a", message="no layout")
    new = seen("k@cuda:90@3.9.0", "crash", fingerprint="b", message="signal 6", status="xfail")

    text = render(compare(Snapshot("a", (old,)), Snapshot("b", (new,))), color=False)

    assert "1 fail differently\n  k on cuda:90\n    was mlir-error in ttgir: no layout\n" in text
    assert "    crash in ttgir: signal 6 (expected)\n" in text


def test_releases_are_named_where_there_are_several(seen: MakeSeen) -> None:
    old = Snapshot("a", tuple(seen(f"k@cuda:90@{release}") for release in ("3.8.0", "3.9.0")))
    new = Snapshot("b", (old.cells[0], seen("k@cuda:90@3.9.0", "crash")))

    assert "\n  k on cuda:90 (Triton 3.9.0)\n" in render(compare(old, new), color=False)


def test_cells_that_lack_a_tool_are_said_not_to_be_compared(seen: MakeSeen) -> None:
    old = seen("k@hip:gfx942@3.5.1")
    new = seen("k@hip:gfx942@3.4.0", "toolchain-error", message="ld.lld is missing: install lld")

    text = render(compare(Snapshot("3.5.1", (old,)), Snapshot("3.4.0", (new,))), color=False)

    assert "3.4.0: 1 cell lacks a tool and is not compared: ld.lld is missing: install lld" in text


def test_only_so_many_cells_are_spelt_out(seen: MakeSeen) -> None:
    old, new = (
        Snapshot(str(size), tuple(seen(f"k{n}@cuda:90@3.9.0", sizes={"ptx": size}) for n in range(30)))
        for size in (10, 20)
    )

    assert "  and 10 more cells: --json FILE has them all" in render(compare(old, new), color=False)


def test_colours_only_where_they_are_wanted(recorded: tuple[Snapshot, Snapshot]) -> None:
    diff = compare(*recorded)

    assert "\x1b[31m3 regressed\x1b[0m" in render(diff, color=True)
    assert "\x1b" not in render(diff, color=False)

"""How a diff is put into words; what the text and the Markdown have in common."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from portcheck.diff.model import Diff, Pair
from portcheck.diff.snapshot import Seen

Change = tuple[int | None, int | None]

# Stages in the order in which compilers run them; others follow.
_STAGES = ("source", "ttir", "ttgir", "llir", "ptx", "cubin", "amdgcn", "hsaco")
_SHOWN = 20  # cells whose sizes and resources are spelt out


def stages(names: Iterable[str]) -> list[str]:
    """Stages in the order of the pipeline."""
    rank = {stage: number for number, stage in enumerate(_STAGES)}
    return sorted(names, key=lambda stage: (rank.get(stage, len(rank)), stage))


def change(before: float | None, now: float | None, unit: str = "") -> str:
    """`5224 -> 7640 (+46 %)`; a dash for what one side does not have."""
    text = f"{_number(before)} -> {_number(now)}{unit}"
    return f"{text} ({percent(before, now)})" if before and now is not None else text


def percent(before: float, now: float) -> str:
    """How much more: `+46 %`, `-0.3 %`."""
    more = (now - before) / before * 100
    if abs(more) >= 1:
        return f"{more:+.0f} %"
    return f"{more:+.1f} %" if abs(more) >= 0.05 else "less than 0.1 %"


def failure(seen: Seen) -> str:
    """What a failed cell says: `frontend-error in frontend: no such function`."""
    where = f" in {seen.stage}" if seen.stage else ""
    said = f": {seen.message}" if seen.message else ""
    return f"{seen.verdict}{where}{said}"


def places(diff: Diff, pairs: Sequence[Pair]) -> Iterator[str]:
    """`gelu on cuda:80, cuda:90 (Triton 3.9.0)`: the rows of pairs, with what else the pairs stand for.

    The release is left out where a diff has only one.
    """
    rows: dict[tuple[str, str | None], list[str]] = {}
    for pair in pairs:
        targets = rows.setdefault((pair.row, pair.triton), [])
        if pair.target:
            targets.append(pair.target)
    for (row, release), targets in rows.items():
        on = f" on {', '.join(targets)}" if targets else ""
        yield f"{row}{on}" + (f" (Triton {release})" if release and diff.several_releases else "")


def place(diff: Diff, pair: Pair) -> str:
    """One pair, as `places` has it."""
    return next(places(diff, [pair]))


def alike(pairs: Iterable[Pair]) -> Iterator[tuple[list[Pair], list[str]]]:
    """Pairs that failed alike, before and now, together with what there is to say of them."""
    groups: dict[tuple[str, ...], list[Pair]] = {}
    for pair in pairs:
        groups.setdefault(tuple(_said(pair)), []).append(pair)
    for said, members in groups.items():
        yield members, list(said)


def moved(pair: Pair) -> list[tuple[str, Change]]:
    """What changed of a pair's resources and sizes; resources first, since they are what runs slower."""
    resources = [(name, values) for name, values in pair.resources.items() if values[0] != values[1]]
    sizes = pair.sizes
    return resources + [(stage, sizes[stage]) for stage in stages(sizes) if sizes[stage][0] != sizes[stage][1]]


def most_moved(diff: Diff) -> tuple[list[Pair], int]:
    """The pairs whose sizes or resources changed most, and how many more changed."""
    changed = [pair for pair in diff.pairs if pair.comparable and moved(pair)]
    ranked = sorted(changed, key=_distance, reverse=True)
    return ranked[:_SHOWN], len(ranked[_SHOWN:])


def totals(diff: Diff) -> dict[str, tuple[int, int]]:
    """Stage → bytes over all cells that compiled on both sides and have it there."""
    sums: dict[str, tuple[int, int]] = {}
    for pair in diff.pairs:
        for stage, (old, new) in pair.sizes.items():
            if pair.comparable and old is not None and new is not None:
                before, now = sums.get(stage, (0, 0))
                sums[stage] = (before + old, now + new)
    return {stage: sums[stage] for stage in stages(sums)}


def seconds(pair: Pair) -> str:
    """`2.10 s -> 4.41 s (+110 %)`"""
    assert pair.old is not None and pair.new is not None  # it is slower than it was
    before, now = pair.old.seconds, pair.new.seconds
    return f"{before:.2f} s -> {now:.2f} s ({percent(before, now)})"


def counted(diff: Diff) -> str:
    """The counts in one line."""
    count = diff.summary
    pairs = len(diff.pairs)
    changes = [
        f"{count['regressed']} regressed",
        f"{count['fixed']} fixed",
        f"{count['different']} fail differently",
        f"{count['unchanged']} unchanged",
        *(f"{count[one]} {one}" for one in ("added", "removed") if count[one]),
    ]
    return " · ".join(
        [
            f"{pairs} cell{'' if pairs == 1 else 's'}: {', '.join(changes)}",
            f"{count['slower']} slower to compile",
            f"{count['spills']} begin{'s' if count['spills'] == 1 else ''} to spill",
        ]
    )


def _said(pair: Pair) -> Iterator[str]:
    if pair.old is not None and not pair.old.ok and pair.old.verdict:
        yield f"was {failure(pair.old)}"
    if pair.new is not None and not pair.new.ok and pair.new.verdict:
        expected = " (expected)" if pair.new.expected else ""
        yield f"{failure(pair.new)}{expected}"


def _distance(pair: Pair) -> float:
    """By how much a pair changed: the largest factor among its sizes and resources."""
    return max((_factor(*values) for _, values in moved(pair)), default=0.0)


def _factor(before: int | None, now: int | None) -> float:
    return abs(math.log((now or 0) + 1) - math.log((before or 0) + 1))


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:g}" if isinstance(value, float) else str(value)

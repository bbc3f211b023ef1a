"""A diff: pairs of cells that differ in one thing only, and what became of each.

| change | old | new |
|---|---|---|
| regressed | ok | failed |
| fixed | failed | ok |
| different | failed | failed with another fingerprint |
| unchanged | ok, or failed | the same |
| added | no verdict | some verdict |
| removed | some verdict | no verdict |

A cell that was skipped, or for which a tool is missing, has no verdict: nothing can be said of its kernel.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from portcheck.diff.limits import DEFAULT_SLOWER, FLOOR
from portcheck.diff.snapshot import NO_TOOL, Seen, Snapshot

CHANGES = ("regressed", "fixed", "different", "unchanged", "added", "removed")

# What may be compared, and by what else cells belong together.
AXES = ("kernel", "variant", "target", "triton")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two cells that belong together; None where one side has no such cell."""

    kernel: str
    variant: str | None
    target: str | None  # None if targets are compared
    triton: str | None  # None if releases are compared
    old: Seen | None
    new: Seen | None
    change: str  # one of CHANGES
    slower: bool

    @property
    def row(self) -> str:
        """How the row is shown."""
        return self.kernel if self.variant is None else f"{self.kernel}[{self.variant}]"

    @property
    def lacks_tool(self) -> bool:
        """Is there no new verdict because a tool is missing?"""
        return self.new is not None and self.new.verdict == NO_TOOL

    @property
    def sizes(self) -> dict[str, tuple[int | None, int | None]]:
        """Stage → bytes of its output, before and now."""
        old, new = _artifacts(self.old), _artifacts(self.new)
        return {stage: (old.get(stage), new.get(stage)) for stage in sorted({*old, *new})}

    @property
    def resources(self) -> dict[str, tuple[int | None, int | None]]:
        """Resource → before and now, but for those that neither side knows."""
        old = self.old.resources if self.old else {}
        new = self.new.resources if self.new else {}
        pairs = {name: (old.get(name), new.get(name)) for name in {**old, **new}}
        return {name: pair for name, pair in pairs.items() if pair != (None, None)}

    @property
    def comparable(self) -> bool:
        """Did both compile, so that sizes, resources and times mean something side by side?"""
        return self.old is not None and self.new is not None and self.old.ok and self.new.ok

    @property
    def spills(self) -> bool:
        """Does it spill registers, and did not before?"""
        old, new = self.resources.get("spills", (None, None))
        return self.comparable and old == 0 and bool(new)


@dataclass(frozen=True)
class Diff:
    """Two sides compared."""

    old: str  # what to call them
    new: str
    pairs: tuple[Pair, ...]
    compared: tuple[str, ...]  # the axes that are compared: triton, target, or none for two reports of the same cells
    slower: float  # percent above which a compile counts as slower

    @cached_property
    def several_releases(self) -> bool:
        """Are there pairs of more than one release, so that a pair's has to be named?"""
        return len({pair.triton for pair in self.pairs}) > 1

    @cached_property
    def summary(self) -> dict[str, int]:
        """How many pairs of each kind."""
        counts = Counter(pair.change for pair in self.pairs)
        return {
            **{change: counts[change] for change in CHANGES},
            "slower": sum(pair.slower for pair in self.pairs),
            "spills": sum(pair.spills for pair in self.pairs),
        }

    def of(self, change: str) -> list[Pair]:
        """The pairs of one kind."""
        return [pair for pair in self.pairs if pair.change == change]

    @property
    def status(self) -> int:
        """The exit status: 3 if a cell that compiled now lacks a tool, 1 for a regression that nobody expects."""
        if any(pair.lacks_tool and pair.old is not None and pair.old.ok for pair in self.pairs):
            return 3
        return 1 if any(pair.new and not pair.new.expected for pair in self.of("regressed")) else 0


def compare(old: Snapshot, new: Snapshot, *, axis: str | None = None, slower: float = DEFAULT_SLOWER) -> Diff:
    """Compare two sides cell by cell.

    `axis` is what is compared, `target` or `triton`. Without one the same cells are compared; but where each side has
    only one release and these differ, they are what is compared, and likewise for targets.
    """
    compared = (axis,) if axis else tuple(name for name in ("triton", "target") if _single(old, new, name))
    key = _key(compared)
    before, after = _by(key, old.cells), _by(key, new.cells)
    names = list(dict.fromkeys([*_merged(list(before), list(after))]))
    pairs = (_pair(before.get(name), after.get(name), compared, slower) for name in names)
    return Diff(old.label, new.label, tuple(pair for pair in pairs if pair), compared, slower)


def _pair(old: Seen | None, new: Seen | None, compared: Sequence[str], slower: float) -> Pair | None:
    one = new or old
    assert one is not None  # a name comes from somewhere
    change = _change(old, new)
    if change is None:
        return None
    return Pair(
        kernel=one.kernel,
        variant=one.variant,
        target=None if "target" in compared else one.target,
        triton=None if "triton" in compared else one.triton,
        old=old,
        new=new,
        change=change,
        slower=_is_slower(old, new, slower),
    )


def _change(old: Seen | None, new: Seen | None) -> str | None:
    """What became of a cell; None if neither side tried."""
    before = old if old and old.judged else None
    after = new if new and new.judged else None
    if before is None or after is None:
        if before is None and after is None:
            tried = any(seen is not None and seen.verdict for seen in (old, new))
            return "unchanged" if tried else None
        return "added" if before is None else "removed"
    if before.ok and after.ok:
        return "unchanged"
    if before.ok or after.ok:
        return "regressed" if before.ok else "fixed"
    return "unchanged" if _failure(before) == _failure(after) else "different"


def _failure(seen: Seen) -> tuple[str | None, ...]:
    """What makes two failures the same; the fingerprint says all where there is one."""
    return (seen.fingerprint,) if seen.fingerprint else (seen.verdict, seen.stage, seen.message)


def _is_slower(old: Seen | None, new: Seen | None, percent: float) -> bool:
    if old is None or new is None or not (old.ok and new.ok) or not old.seconds:
        return False
    more = new.seconds - old.seconds
    return more > FLOOR and more > old.seconds * percent / 100


def _artifacts(seen: Seen | None) -> Mapping[str, int]:
    return {stage: artifact.size for stage, artifact in seen.artifacts.items()} if seen else {}


def _single(old: Snapshot, new: Snapshot, axis: str) -> bool:
    """Does each side have one value of `axis`, and not the same?"""
    before = {getattr(cell, axis) for cell in old.cells}
    after = {getattr(cell, axis) for cell in new.cells}
    return len(before) == len(after) == 1 and before != after


def _key(compared: Sequence[str]) -> Callable[[Seen], tuple[str | None, ...]]:
    axes = [axis for axis in AXES if axis not in compared]
    return lambda cell: tuple(getattr(cell, axis) for axis in axes)


def _by(key: Callable[[Seen], tuple[str | None, ...]], cells: Sequence[Seen]) -> dict[tuple[str | None, ...], Seen]:
    return {key(cell): cell for cell in cells}


def _merged(old: list[tuple[str | None, ...]], new: list[tuple[str | None, ...]]) -> Iterator[tuple[str | None, ...]]:
    """The names of both sides in the new side's order; those that are gone follow what they stood behind."""
    there = set(new)
    gone: dict[tuple[str | None, ...] | None, list[tuple[str | None, ...]]] = {}
    last = None
    for name in old:
        if name in there:
            last = name
        else:
            gone.setdefault(last, []).append(name)
    yield from gone.get(None, ())
    for name in new:
        yield name
        yield from gone.get(name, ())

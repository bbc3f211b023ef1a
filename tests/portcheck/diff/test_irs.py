"""Outputs of a stage side by side, from a cache."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from portcheck.cache import Store, pack
from portcheck.diff.irs import NotKept, compare_ir
from portcheck.diff.model import Diff, compare
from portcheck.diff.snapshot import Seen, Snapshot
from portcheck.errors import UsageError
from portcheck.report.style import Style
from portcheck.verdicts import Artifact

MakeSeen = Callable[..., Seen]
PLAIN = Style(False)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """An empty store."""
    return Store(tmp_path, warn=lambda _: None)


@pytest.fixture
def diff(seen: MakeSeen, store: Store) -> Callable[..., Diff]:
    """`diff(old, new)`: one cell whose outputs, by stage, were these and are these; all are kept."""

    def kept(key: str, outputs: dict[str, str]) -> Seen:
        entries = pack(store, {stage: text.encode() for stage, text in outputs.items()})
        store.put("back", key, b"", {"artifacts": entries})
        found = {stage: Artifact(entry["digest"], entry["size"]) for stage, entry in entries.items()}
        return replace(seen("k@cuda:90@3.9.0"), back_key=key, artifacts=found)

    def make(old: dict[str, str], new: dict[str, str]) -> Diff:
        return compare(Snapshot("old", (kept("a" * 32, old),)), Snapshot("new", (kept("b" * 32, new),)))

    return make


def test_outputs_that_differ_are_compared(diff: Callable[..., Diff], store: Store) -> None:
    (lines,) = compare_ir(diff({"ttir": "tt.a.x"}, {"ttir": "tt.b.x"}), "ttir", store, PLAIN)

    assert lines == [
        "k on cuda:90",
        "--- old/k@cuda:90@3.9.0/ttir",
        "+++ new/k@cuda:90@3.9.0/ttir",
        "@@ -1 +1 @@",
        "-tt.a.x",
        "+tt.b.x",
    ]


def test_what_is_equal_is_counted_and_what_one_side_lacks_is_passed_over(
    diff: Callable[..., Diff], store: Store
) -> None:
    both = diff({"ttir": "same", "ptx": "only"}, {"ttir": "same"})

    assert list(compare_ir(both, "ttir", store, PLAIN)) == [["ttir is the same to the byte in 1 cell"]]
    assert list(compare_ir(both, "ptx", store, PLAIN)) == []


def test_what_is_gone_says_how_to_make_it_again(diff: Callable[..., Diff], tmp_path: Path) -> None:
    other = Store(tmp_path / "other", warn=lambda _: None)

    (gone,) = compare_ir(diff({"ttir": "a"}, {"ttir": "b"}), "ttir", other, PLAIN)

    assert isinstance(gone, NotKept)
    assert str(gone).endswith("with: portcheck check --triton 3.9.0 -t cuda:90 -k 'k' --save-ir DIR")


def test_a_terminal_obeys_nothing_of_it(diff: Callable[..., Diff], store: Store) -> None:
    (lines,) = compare_ir(diff({"ttir": "a"}, {"ttir": "b\x1b[2J\x9b"}), "ttir", store, PLAIN)

    assert lines[-1] == "+b\\x1b[2J\\x9b"


@pytest.mark.parametrize(
    ("stage", "said"),
    [
        ("ttri", r'no cell has a stage "ttri" \(did you mean ttir\?\): there are ttir, ptx, cubin'),
        ("cubin", "--ir cubin: is binary: ptx is the nearest text"),
    ],
)
def test_a_stage_that_cannot_be_compared_is_refused(
    diff: Callable[..., Diff], store: Store, stage: str, said: str
) -> None:
    outputs = {"cubin": "", "ptx": "", "ttir": ""}

    with pytest.raises(UsageError, match=said):
        list(compare_ir(diff(outputs, outputs), stage, store, PLAIN))

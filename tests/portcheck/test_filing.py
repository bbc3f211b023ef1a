"""Which record answers for a cell, and which one a finished compile becomes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from portcheck.cache import Store
from portcheck.cache.layout import SHARED_KINDS, walk
from portcheck.compiler.outcome import Compiled
from portcheck.filing import CellKeys, Filing
from portcheck.keys import Key, make_key
from portcheck.manifest.model import Settings
from portcheck.target import parse_target
from portcheck.verdicts import LOCAL, Failure

SETTINGS = Settings(targets=(), timeout=60, max_rss=1 << 30)
FRONT = {"ttir": "t", "located": "tl", "options": {"num_warps": 4}, "knobs": {}}
OK = Compiled(None, 0.5, {"frontend": 0.1}, {"shared": 0}, {"cubin": b"binary" * 30_000, "ptx": b"text", "json": b"{}"})


def make(kind: str, **parts: Any) -> Key:
    """Keys of one toolchain."""
    return make_key(kind, "", "toolchain", **parts)


def keys(kernel: str = "kernel", **specialisation: Any) -> CellKeys:
    """The keys of a cell on cuda:90."""
    return CellKeys(make, kernel, specialisation, parse_target("cuda:90"))


def failed(verdict: str, stage: str = "ptx") -> Compiled:
    """A compile with that verdict."""
    return replace(OK, failure=Failure(verdict, stage, "it says why"), files={})


def shared(store: Store) -> list[str]:
    """The kinds of the shared records there are."""
    return sorted(entry.kind for entry in walk(store.root) if entry.kind in SHARED_KINDS)


def test_what_is_filed_is_found_with_its_artifacts(store: Store) -> None:
    filed = Filing(store).put(keys(), FRONT, OK, SETTINGS, stable=True)
    found = Filing(store).find(keys(), SETTINGS)

    assert found == filed
    assert found is not None and found.back == keys().back(FRONT).hex
    assert {name: artifact.size for name, artifact in found.outcome.artifacts.items()} == {"cubin": 180_000, "ptx": 4}
    assert Filing(store).artifacts(keys(), found.outcome) == {"cubin": OK.files["cubin"], "ptx": b"text"}


@pytest.mark.parametrize("other", [keys("changed"), keys(options=1), replace(keys(), target=parse_target("cuda:80"))])
def test_another_cell_is_not_answered(store: Store, other: CellKeys) -> None:
    Filing(store).put(keys(), FRONT, OK, SETTINGS, stable=True)

    assert Filing(store).find(other, SETTINGS) is None


def test_an_evicted_blob_is_missed_by_nobody_but_who_asks_for_it(store: Store) -> None:
    Filing(store).put(keys(), FRONT, OK, SETTINGS, stable=True)
    for blob in (store.root / "1" / "blob").glob("*/*"):
        blob.unlink()

    found = Filing(store).find(keys(), SETTINGS)

    assert found is not None and found.outcome.verdict == "ok"
    assert Filing(store).artifacts(keys(), found.outcome) == {"cubin": None, "ptx": b"text"}


def test_a_front_end_failure_is_in_the_front_record(store: Store) -> None:
    Filing(store).put(keys(), None, failed("frontend-error", "frontend"), SETTINGS, stable=True)

    found = Filing(store).find(keys(), SETTINGS)
    assert found is not None and found.outcome.failure == Failure("frontend-error", "frontend", "it says why")
    assert found.back is None
    assert shared(store) == ["front"]


def test_a_verdict_stands_for_whoever_reaches_the_same_ttir(store: Store) -> None:
    Filing(store).put(keys(one=1), FRONT, OK, SETTINGS, stable=True)

    assert Filing(store).find_back(keys(two=2), FRONT) is not None
    assert Filing(store).find_back(keys(two=2), {**FRONT, "options": {"num_warps": 8}}) is None
    assert Filing(store).find_back(keys(two=2), {**FRONT, "knobs": {"x": 1}}) is None
    assert Filing(store).find_back(keys(two=2), {**FRONT, "ttir": "u"}) is None


def test_a_failure_stands_only_where_its_position_is_right(store: Store) -> None:
    Filing(store).put(keys(one=1), FRONT, failed("assembler-error", "cubin"), SETTINGS, stable=True)

    assert Filing(store).find_back(keys(two=2), FRONT) is not None
    assert Filing(store).find_back(keys(two=2), {**FRONT, "located": "moved"}) is None


@pytest.mark.parametrize("verdict", sorted(LOCAL))
def test_what_depends_on_the_machine_is_never_shared(store: Store, verdict: str) -> None:
    filed = Filing(store).put(keys(), FRONT, failed(verdict), SETTINGS, stable=True)

    assert filed.outcome.verdict == verdict
    assert shared(store) == []


@pytest.mark.parametrize(
    ("verdict", "settings", "remembered"),
    [
        ("crash", SETTINGS, True),
        ("crash", replace(SETTINGS, timeout=600), True),
        ("timeout", SETTINGS, True),
        ("timeout", replace(SETTINGS, timeout=30), True),
        ("timeout", replace(SETTINGS, timeout=61), False),
        ("timeout", replace(SETTINGS, max_rss=1 << 40), True),
        ("memory-limit", replace(SETTINGS, max_rss=1 << 29), True),
        ("memory-limit", replace(SETTINGS, max_rss=1 << 31), False),
        ("toolchain-error", SETTINGS, False),
        ("import-error", SETTINGS, False),
    ],
)
def test_this_machine_remembers_unless_a_limit_has_grown(
    store: Store, verdict: str, settings: Settings, remembered: bool
) -> None:
    Filing(store).put(keys(), FRONT, failed(verdict), SETTINGS, stable=True)

    assert (Filing(store).find(keys(), settings) is not None) == remembered


def test_another_machine_does_not_remember(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    Filing(store).put(keys(), FRONT, failed("crash"), SETTINGS, stable=True)
    monkeypatch.setattr("platform.node", lambda: "elsewhere")

    assert Filing(store).find(keys(), SETTINGS) is None


def test_nothing_is_filed_when_sources_changed_meanwhile(store: Store) -> None:
    for compiled in (OK, failed("assembler-error"), failed("crash")):
        filed = Filing(store).put(keys(), FRONT, compiled, SETTINGS, stable=False)

        assert filed.outcome.failure == compiled.failure
    assert Filing(store).find(keys(), SETTINGS) is None


def test_a_record_that_is_not_one_of_ours_is_a_miss(store: Store) -> None:
    front, back = keys().front, keys().back(FRONT)
    store.put("front", front.hex, front.preimage, {"front": dict(FRONT), "outcome": None})
    store.put("back", back.hex, back.preimage, {"failure": None, "artifacts": "many"})

    assert Filing(store).find(keys(), SETTINGS) is None


@pytest.mark.parametrize("payload", [{}, {"front": None, "outcome": None}, {"front": {"ttir": "t"}, "outcome": None}])
def test_a_front_record_that_is_not_one_of_ours_is_a_miss(store: Store, payload: dict[str, Any]) -> None:
    front = keys().front
    store.put("front", front.hex, front.preimage, payload)

    assert Filing(store).find(keys(), SETTINGS) is None


def test_a_second_compile_writes_what_was_lost(store: Store) -> None:
    Filing(store).put(keys(), FRONT, OK, SETTINGS, stable=True)
    for entry in list(walk(store.root)):
        with open(entry.path, "r+b") as file:
            file.truncate(entry.size // 2)

    assert Filing(store).find(keys(), SETTINGS) is None
    filed = Filing(store).put(keys(), FRONT, OK, SETTINGS, stable=True)

    assert Filing(store).find(keys(), SETTINGS) == filed
    assert Filing(store).artifacts(keys(), filed.outcome)["cubin"] == OK.files["cubin"]

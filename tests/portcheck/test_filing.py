"""Which record answers for a cell, and which one a finished compile becomes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from portcheck.anchors import Anchors
from portcheck.cache import Store
from portcheck.cache.layout import SHARED_KINDS, walk
from portcheck.compiler.outcome import Compiled
from portcheck.filing import CellKeys, Filed, Filing, Finished, Front
from portcheck.keys import Key, make_key
from portcheck.manifest.model import Settings
from portcheck.verdicts import LOCAL, Failure, Position

SETTINGS = Settings(targets=(), timeout=60, max_rss=1 << 30)
FRONT = {"ttir": "t", "located": "tl", "options": {"num_warps": 4}, "settings": {}}
OK = Compiled(None, 0.5, {"frontend": 0.1}, {"shared": 0}, {"cubin": b"binary" * 30_000, "ptx": b"text", "json": b"{}"})


def make(kind: str, **parts: Any) -> Key:
    """Keys of one toolchain."""
    return make_key(kind, salt="", toolchain="toolchain", **parts)


def keys(kernel: str = "kernel", target: str = "cuda:90", **specialisation: Any) -> CellKeys:
    """The keys of a cell; nothing that its front end reads late ever changes."""
    front_parts = {"kernel": kernel, "specialisation": specialisation, "target": target}
    return CellKeys(make, front_parts, {"target": target}, observe=lambda listed: "unchanged")


def filing(store: Store) -> Filing:
    """The filing of a new process, over sources that are not there."""
    return Filing(store, Anchors(lambda file: f"/nowhere/{file}"), make)


def put(store: Store, keys: CellKeys, front: Front | None, compiled: Compiled, stable: bool = True) -> Filed:
    """File what a compile gave."""
    return filing(store).put(keys, Finished(front, compiled, (), stable), SETTINGS)


def failed(verdict: str, stage: str = "ptx") -> Compiled:
    """A compile with that verdict."""
    return replace(OK, failure=Failure(verdict, stage, "it says why"), files={})


def shared(store: Store) -> list[str]:
    """The kinds of the shared records there are."""
    return sorted(entry.kind for entry in walk(store.root) if entry.kind in SHARED_KINDS)


def test_what_is_filed_is_found_with_its_artifacts(store: Store) -> None:
    filed = put(store, keys(), FRONT, OK)
    found = filing(store).find(keys(), SETTINGS)

    assert found == filed
    assert found is not None and found.back == keys().back(FRONT).hex
    assert {name: artifact.size for name, artifact in found.outcome.artifacts.items()} == {"cubin": 180_000, "ptx": 4}
    assert filing(store).artifacts(keys(), found.outcome) == {"cubin": OK.files["cubin"], "ptx": b"text"}


@pytest.mark.parametrize("other", [keys("changed"), keys(options=1), keys(target="cuda:80")])
def test_another_cell_is_not_answered(store: Store, other: CellKeys) -> None:
    put(store, keys(), FRONT, OK)

    assert filing(store).find(other, SETTINGS) is None


def test_an_evicted_blob_is_missed_by_nobody_but_who_asks_for_it(store: Store) -> None:
    put(store, keys(), FRONT, OK)
    for blob in (store.root / "1" / "blob").glob("*/*"):
        blob.unlink()

    found = filing(store).find(keys(), SETTINGS)

    assert found is not None and found.outcome.verdict == "ok"
    assert filing(store).artifacts(keys(), found.outcome) == {"cubin": None, "ptx": b"text"}


def test_a_front_end_failure_is_in_the_front_record(store: Store) -> None:
    put(store, keys(), None, failed("frontend-error", "frontend"))

    found = filing(store).find(keys(), SETTINGS)
    assert found is not None and found.outcome.failure == Failure("frontend-error", "frontend", "it says why")
    assert found.back is None
    assert shared(store) == ["front"]


def test_a_verdict_stands_for_whoever_reaches_the_same_ttir(store: Store) -> None:
    put(store, keys(one=1), FRONT, OK)

    assert filing(store).find_back(keys(two=2), FRONT) is not None
    assert filing(store).find_back(keys(two=2), {**FRONT, "options": {"num_warps": 8}}) is None
    assert filing(store).find_back(keys(two=2), {**FRONT, "settings": {"x": 1}}) is None
    assert filing(store).find_back(keys(two=2), {**FRONT, "ttir": "u"}) is None


def test_of_two_that_reach_one_ttir_at_once_the_first_one_s_artifacts_stand(store: Store) -> None:
    other = replace(OK, files={"cubin": b"the same code, other debug lines"})
    first = put(store, keys(one=1), FRONT, OK)

    second = put(store, keys(two=2), FRONT, other)

    assert second.outcome.artifacts == first.outcome.artifacts
    assert None not in filing(store).artifacts(keys(two=2), second.outcome).values()
    assert filing(store).find(keys(two=2), SETTINGS) == second


def test_a_failure_stands_only_where_its_position_is_right(store: Store) -> None:
    put(store, keys(one=1), FRONT, failed("assembler-error", "cubin"))

    assert filing(store).find_back(keys(two=2), FRONT) is not None
    assert filing(store).find_back(keys(two=2), {**FRONT, "located": "moved"}) is None


@pytest.mark.parametrize("verdict", sorted(LOCAL))
def test_what_depends_on_the_machine_is_never_shared(store: Store, verdict: str) -> None:
    filed = put(store, keys(), FRONT, failed(verdict))

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
    put(store, keys(), FRONT, failed(verdict))

    assert (filing(store).find(keys(), settings) is not None) == remembered


def test_another_machine_does_not_remember(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    put(store, keys(), FRONT, failed("crash"))
    monkeypatch.setattr("platform.node", lambda: "elsewhere")

    assert filing(store).find(keys(), SETTINGS) is None


def test_nothing_is_filed_when_sources_changed_meanwhile(store: Store) -> None:
    for compiled in (OK, failed("assembler-error"), failed("crash")):
        filed = put(store, keys(), FRONT, compiled, stable=False)

        assert filed.outcome.failure == compiled.failure
    assert filing(store).find(keys(), SETTINGS) is None


def test_a_record_that_is_not_one_of_ours_is_a_miss(store: Store) -> None:
    front, back = keys().front, keys().back(FRONT)
    store.put("front", front.hex, front.preimage, {"front": dict(FRONT), "outcome": None})
    store.put("back", back.hex, back.preimage, {"failure": None, "artifacts": "many"})

    assert filing(store).find(keys(), SETTINGS) is None


@pytest.mark.parametrize("payload", [{}, {"front": None, "outcome": None}, {"front": {"ttir": "t"}, "outcome": None}])
def test_a_front_record_that_is_not_one_of_ours_is_a_miss(store: Store, payload: dict[str, Any]) -> None:
    front = keys().front
    store.put("front", front.hex, front.preimage, payload)

    assert filing(store).find(keys(), SETTINGS) is None


def test_a_second_compile_writes_what_was_lost(store: Store) -> None:
    put(store, keys(), FRONT, OK)
    for entry in list(walk(store.root)):
        with open(entry.path, "r+b") as file:
            file.truncate(entry.size // 2)

    assert filing(store).find(keys(), SETTINGS) is None
    filed = put(store, keys(), FRONT, OK)

    assert filing(store).find(keys(), SETTINGS) == filed
    assert filing(store).artifacts(keys(), filed.outcome)["cubin"] == OK.files["cubin"]


def test_what_the_front_end_reads_late_is_part_of_the_chain(store: Store) -> None:
    now = {"factor.txt": "3"}
    reading = replace(keys(), observe=now.get)
    filing(store).put(reading, Finished(FRONT, OK, ("factor.txt",), True), SETTINGS)
    assert filing(store).find(reading, SETTINGS) is not None

    now["factor.txt"] = "5"
    assert filing(store).find(reading, SETTINGS) is None
    now["factor.txt"] = "3"
    assert filing(store).find(reading, SETTINGS) is not None
    now.clear()  # the list is lost
    assert filing(store).find(reading, SETTINGS) is None


def test_what_a_cell_read_before_it_died_counts_too(store: Store) -> None:
    now = {"factor.txt": "3"}
    reading = replace(keys(), observe=now.get)
    filing(store).put(reading, Finished(None, failed("timeout"), ("factor.txt",), True), SETTINGS)
    assert filing(store).find(reading, SETTINGS) is not None

    now["factor.txt"] = "5"
    assert filing(store).find(reading, SETTINGS) is None


def test_a_failure_s_position_follows_the_source(store: Store, tmp_path: Path) -> None:
    source = tmp_path / "kernels.py"
    source.write_text("def k(x):\n    return broken(x)\n")
    anchored = Filing(store, Anchors(lambda file: str(tmp_path / file)), make)
    broken = Failure("frontend-error", "frontend", "no", position=Position("kernels.py", 2, 12))
    anchored.put(keys(), Finished(None, replace(OK, failure=broken, files={}), (), True), SETTINGS)

    source.write_text("# moved\n\n\ndef k(x):\n    return broken(x)\n")
    found = Filing(store, Anchors(lambda file: str(tmp_path / file)), make).find(keys(), SETTINGS)

    assert found is not None and found.outcome.failure is not None
    assert found.outcome.failure.position == Position("kernels.py", 5, 12)


def test_an_ok_record_where_a_failure_belongs_is_a_miss_and_the_other_way_round(store: Store) -> None:
    ok = put(store, keys(), FRONT, OK)
    payload = store.get("back", keys().back(FRONT).hex, keys().back(FRONT).preimage)
    assert ok.back and payload
    other = keys("another")
    for kind, key in (("back", other.back_failure({**FRONT, "ttir": "o"})), ("local", other.local)):
        store.put(kind, key.hex, key.preimage, {"outcome": payload, "limits": {}, "late": {}, **payload})
    store.put("front", other.front.hex, other.front.preimage, {"front": None, "outcome": payload, "anchor": None})

    assert filing(store).find(other, SETTINGS) is None
    assert filing(store).find_back(other, {**FRONT, "ttir": "o"}) is None

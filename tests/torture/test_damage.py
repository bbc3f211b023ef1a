"""Damaged, lost and redated files of the cache: misses at worst, and healed."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from portcheck.cache import Store
from portcheck.cache.envelope import decode

if TYPE_CHECKING:
    from tests.conftest import Project, Ran

Sound = Callable[["Ran"], None]
Times = Callable[[int, int], int]

KINDS = ("front", "back", "inputs", "local")
YEARS = 365 * 24 * 3600
LARGE = {
    "portcheck.toml": """
        [[kernel]]
        name = "large"
        target = "large.py:large"
        signature = { x = "*fp32", y = "*fp32" }
        targets = ["cuda:90", "hip:gfx942"]
    """,
    "large.py": """
        import triton
        import triton.language as tl

        @triton.jit
        def large(x, y):
            at = tl.arange(0, 1024)
            for n in tl.static_range(32):
                tl.store(y + n * 1024 + at, tl.exp(tl.load(x + n * 1024 + at)))
    """,
}


def _records(project: Project, kind: str) -> list[Path]:
    return sorted(path for path in (project.cache / "1" / kind).glob("*/*") if path.suffix != ".tmp")


def _damages(data: bytes, step: int) -> Iterator[bytes]:
    """Cut off at every length, and with every byte changed; `step` leaves some out."""
    for at in range(0, len(data), step):
        yield data[:at]
    for at in range(0, len(data), step):
        yield data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :]


def test_every_truncation_and_every_flip_is_a_miss_and_healed(small: Project, times: Times) -> None:
    small.check()
    for kind in KINDS:
        store, tried, records = Store(small.cache, warn=pytest.fail), 0, _records(small, kind)
        for path in records:
            whole = path.read_bytes()
            record = decode(whole)
            for damaged in _damages(whole, times(1, 997)):
                path.write_bytes(damaged)
                assert store.get(kind, path.name, record.preimage) is None
                assert store.put(kind, path.name, record.preimage, record.payload)
                assert path.read_bytes() == whole
                tried += 1
        assert store.counters["record.damaged"] == tried
        print(f"\n{kind}: {tried} damages of {len(records)} records, all of them misses, all healed")


def test_runs_with_a_damaged_record_are_right_and_heal_it(small: Project, sound: Sound, times: Times) -> None:
    dice = random.Random(1)
    small.check()
    healed = 0
    for _ in range(times(40, 1)):
        for kind in KINDS:
            path = dice.choice(_records(small, kind))
            path.write_bytes(dice.choice(list(_damages(path.read_bytes(), 101))))

            sound(small.check())
            again = small.check()

            sound(again)
            assert set(again.origins.values()) == {"cached"}
            healed += 1
    print(f"\nruns with a damaged record: {healed}, verdicts right, every second run all cached")


def test_a_lost_blob_costs_one_compile_once_somebody_wants_it(project: Project) -> None:
    project.write(LARGE)
    project.check()
    blobs = _records(project, "blob")
    assert blobs

    for blob in blobs:
        blob.unlink()
        assert set(project.check().origins.values()) == {"cached"}
        wanted = project.check("--save-ir", "ir")
        assert sorted(wanted.origins.values()) == ["cached", "compiled"]
        assert set(project.check("--save-ir", "ir").origins.values()) == {"cached"}
        assert blob.exists()
    print(f"\nlost blobs: {len(blobs)}; each compiled again once, when its IR was asked for")


@pytest.mark.parametrize("years", [-10, 10])
def test_a_clock_ten_years_off_changes_no_hit(small: Project, sound: Sound, years: int) -> None:
    sound(small.check())
    then = time.time() + years * YEARS
    for path in [*small.cache.rglob("*"), *small.folder.iterdir()]:
        os.utime(path, (then, then))

    ran = small.check()

    sound(ran)
    assert set(ran.origins.values()) == {"cached"}

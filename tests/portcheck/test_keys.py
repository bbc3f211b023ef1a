"""Keys: everything in a preimage counts, its order does not."""

from __future__ import annotations

import pytest

from portcheck import keys
from portcheck.keys import canonical, digest, make_key


def test_the_order_of_mappings_does_not_count() -> None:
    one = make_key(
        "front", salt="", toolchain="t", specialisation={"a": {"x": 1, "y": 2}, "b": [1, 2]}, target="cuda:90"
    )
    other = make_key(
        "front", salt="", toolchain="t", target="cuda:90", specialisation={"b": [1, 2], "a": {"y": 2, "x": 1}}
    )

    assert one == other


@pytest.mark.parametrize(
    ("kind", "salt", "toolchain", "parts"),
    [
        ("back", "", "t", {"x": [1, "a"]}),
        ("front", "salt", "t", {"x": [1, "a"]}),
        ("front", "", "other", {"x": [1, "a"]}),
        ("front", "", "t", {"x": ["a", 1]}),
        ("front", "", "t", {"x": [1, "a"], "y": None}),
        ("front", "", "t", {"x": [True, "a"]}),
        ("front", "", "t", {"x": [1.0, "a"]}),
        ("front", "", "t", {"x": [1, b"a"]}),
        ("front", "", "t", {"y": [1, "a"]}),
    ],
)
def test_everything_else_counts(kind: str, salt: str, toolchain: str, parts: dict[str, object]) -> None:
    plain = make_key("front", salt="", toolchain="t", x=[1, "a"])
    changed = make_key(kind, salt=salt, toolchain=toolchain, **parts)

    assert changed.hex != plain.hex
    assert changed.preimage != plain.preimage


def test_a_new_meaning_of_records_disowns_the_old(monkeypatch: pytest.MonkeyPatch) -> None:
    before = make_key("front", salt="", toolchain="t")
    monkeypatch.setattr(keys, "RECORDS", keys.RECORDS + 1)

    assert make_key("front", salt="", toolchain="t") != before


def test_digests_are_xxh3_128_in_hex() -> None:
    assert digest(b"") == "99aa06d3014798d86001c324468d497f"


def test_floats_that_are_no_numbers_are_kept_apart() -> None:
    values = [float("inf"), float("-inf"), float("nan"), 0.0, -0.0]

    assert len({canonical(value) for value in values}) == len(values)

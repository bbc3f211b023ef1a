"""What Triton says of targets: asked once, recorded, and never in the way."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from portcheck.cache import Store
from portcheck.keys import make_key
from portcheck.supports import Support, Supports
from portcheck.target import Target

AMPERE, CDNA = Target("cuda", "80"), Target("hip", "gfx942")
ANSWER: dict[str, Any] = {"fp8": {"fp8e4nv": "no"}, "guards": {"is_hip": False, "cuda_capability_geq": [8, 0]}}


class Triton:
    """Says the same of every target."""

    def __init__(self, answer: Any = ANSWER) -> None:
        self.asked: list[Target] = []
        self.answer = answer

    def __call__(self, targets: Sequence[Target]) -> list[dict[str, Any]]:
        self.asked += targets
        if isinstance(self.answer, Exception):
            raise self.answer
        return [self.answer] * len(targets)


def supports(store: Store, triton: Triton, toolchain: str = "digest") -> Supports:
    """As of a new process."""
    return Supports(store, partial(make_key, salt="", toolchain=toolchain), triton)


def test_a_target_is_asked_about_once_a_toolchain(store: Store) -> None:
    triton = Triton()

    supports(store, triton).learn([AMPERE, CDNA, AMPERE])
    again = supports(store, triton)
    again.learn([AMPERE])

    assert triton.asked == [AMPERE, CDNA]
    assert again.known(CDNA) == Support(ANSWER["fp8"], ANSWER["guards"])
    assert supports(store, triton, "another").known(CDNA) is None


def test_nothing_is_asked_to_look_something_up(store: Store) -> None:
    triton = Triton()

    assert supports(store, triton).known(AMPERE) is None
    assert triton.asked == []


def test_a_process_that_ended_leaves_it_open(store: Store) -> None:
    found = supports(store, Triton(ConnectionError("gone")))

    found.learn([AMPERE])

    assert found.known(AMPERE) is None


def test_a_record_that_is_none_of_ours_is_a_miss(store: Store) -> None:
    supports(store, Triton({"fp8": ["fp8e4nv"], "guards": {}})).learn([AMPERE])

    assert supports(store, Triton()).known(AMPERE) is None

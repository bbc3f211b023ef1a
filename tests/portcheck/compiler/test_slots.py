"""Room for compiles: those that were asked for go ahead, helpers wait."""

from __future__ import annotations

import threading
import time

import pytest

from portcheck.compiler.slots import Slots


class Counter:
    """Work that notes how many do it at once."""

    def __init__(self, slots: Slots) -> None:
        self.slots, self.now, self.most, self.lock = slots, 0, 0, threading.Lock()

    def __call__(self, number: int) -> int:
        with self.slots.taken():
            with self.lock:
                self.now += 1
                self.most = max(self.most, self.now)
            time.sleep(0.01)
            with self.lock:
                self.now -= 1
        return number * number


@pytest.mark.parametrize("number", [1, 2, 3])
def test_as_many_at_once_as_there_are_slots(number: int) -> None:
    work = Counter(Slots(number))

    assert work.slots.spread(work, range(12)) == [n * n for n in range(12)]

    assert work.most == number


def test_who_was_started_for_it_goes_ahead_though_all_slots_are_taken() -> None:
    slots = Slots(2)
    work = Counter(slots)

    with slots.taken(), slots.taken():
        assert slots.spread(work, [1, 2, 3]) == [1, 4, 9]

    assert work.most == 1


def test_an_error_ends_all_of_it() -> None:
    slots, seen = Slots(2), []

    def work(number: int) -> int:
        seen.append(number)
        with slots.taken():
            if number == 1:
                raise ValueError(number)
            time.sleep(0.01)
        return number

    with pytest.raises(ValueError, match="1"):
        slots.spread(work, range(50))

    assert len(seen) < 10

"""How many compiles run at a time. Whoever was started for one always goes ahead; helpers only where there is room."""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Done = TypeVar("Done")


class Slots:
    """Room for a number of compiles. Thread-safe."""

    def __init__(self, number: int) -> None:
        self._number, self._taken = number, 0
        self._changed = threading.Condition()
        self._here = threading.local()  # has this thread a slot already?

    @contextlib.contextmanager
    def taken(self) -> Iterator[None]:
        """Take a slot meanwhile, whether there is room or not; a helper has one already."""
        if getattr(self._here, "helps", False):
            yield
            return
        with self._changed:
            self._taken += 1
        try:
            yield
        finally:
            self._give_back()

    def spread(self, work: Callable[[Item], Done], items: Sequence[Item]) -> list[Done]:
        """What `work`, which takes a slot, gives for each item: done here, and by helpers. Raises what it raises."""
        left = deque(enumerate(items))
        done: dict[int, Done] = {}

        def do_one() -> None:
            try:
                at, item = left.popleft()
            except IndexError:
                return  # another took the last one
            try:
                done[at] = work(item)
            except BaseException:
                left.clear()
                raise

        def help_out() -> None:
            self._here.helps = True
            while self._room(left):
                try:
                    do_one()
                finally:
                    self._give_back()

        helpers = min(self._number, len(items)) - 1
        with ThreadPoolExecutor(max(helpers, 1)) as pool:
            helping = [pool.submit(help_out) for _ in range(helpers)]
            try:
                while left:
                    do_one()
            finally:
                with self._changed:
                    self._changed.notify_all()  # whoever waits for room has nothing left to do
        for one in helping:
            one.result()
        return [done[at] for at in range(len(items))]

    def _room(self, left: Collection[object]) -> bool:
        """Wait for a slot and take it; False if nothing is left to do meanwhile."""
        with self._changed:
            while left and self._taken >= self._number:
                self._changed.wait()
            self._taken += bool(left)
            return bool(left)

    def _give_back(self) -> None:
        with self._changed:
            self._taken -= 1
            self._changed.notify_all()

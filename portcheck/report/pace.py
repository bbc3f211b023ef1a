"""How long a run will still take, judged by how fast it went so far."""

from __future__ import annotations

from collections.abc import Mapping


class Pace:
    """Counts finished cells by the seconds they took last time, so that a long cell weighs more than a short one."""

    def __init__(self, total: int, expected_seconds: Mapping[str, float], start: float) -> None:
        """`total` cells; `expected_seconds` of those known, by name; `start` is the time now, in seconds."""
        self.total = total
        self.done = 0
        self._expected = expected_seconds
        self._average = sum(expected_seconds.values()) / len(expected_seconds) if expected_seconds else 1.0
        self._ahead = sum(expected_seconds.values()) + self._average * max(0, total - len(expected_seconds))
        self._behind = 0.0
        self._start = start

    def finish(self, name: str) -> None:
        """One more cell is done."""
        self.done += 1
        self._behind += self._expected.get(name, self._average)

    def remaining(self, now: float) -> float | None:
        """Seconds left at the pace so far, several cells at a time included; None before anything is known."""
        if not self._behind or self.done >= self.total:
            return None
        return (now - self._start) * max(0.0, self._ahead - self._behind) / self._behind

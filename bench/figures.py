"""Figures and what becomes of them: a table for the terminal and for docs/, and a plot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True, slots=True)
class Figure:
    """One thing that was measured, and its limit."""

    name: str
    value: float
    unit: str  # s, MB, or × for a ratio to a yardstick
    limit: float
    is_floor: bool = False  # is the limit the least that is wanted, not the most?
    detail: str = ""  # what the value was made of

    @property
    def within(self) -> bool:
        """Is the limit kept?"""
        return self.value >= self.limit if self.is_floor else self.value <= self.limit

    @property
    def used(self) -> float:
        """The share of the limit that is used up; 1 is just at it."""
        return self.limit / self.value if self.is_floor else self.value / self.limit


def table(figures: Sequence[Figure]) -> str:
    """The figures as a table that reads well as it stands, in Markdown."""
    rows = [("what", "measured", "limit", "", "made of"), *map(_cells, figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "| " + " | ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) + " |" for row in rows
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def plot(figures: Sequence[Figure]) -> str:
    """An SVG with a bar a figure: how much of its limit it uses up. What is over leaves the field and is red."""
    left, field, height = 330, 360, 26
    bars = []
    for number, figure in enumerate(figures):
        y, color = 34 + number * height, "#3a7d44" if figure.within else "#b3261e"
        width = min(figure.used, 1.25) * field
        bars.append(
            f'<text x="{left - 10}" y="{y + 14}" text-anchor="end">{escape(figure.name)}</text>'
            f'<rect x="{left}" y="{y}" width="{width:.0f}" height="{height - 8}" fill="{color}"/>'
            f'<text x="{left + width + 6:.0f}" y="{y + 14}">{escape(_amount(figure.value, figure.unit))}</text>'
        )
    total = 44 + len(figures) * height
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="900" height="{total}" font-family="sans-serif" font-size="13">'
        f'<rect width="900" height="{total}" fill="white"/>'
        f'<text x="{left + field}" y="18" text-anchor="middle">limit</text>'
        f'{"".join(bars)}<path d="M{left + field} 24V{total - 8}" stroke="black" stroke-dasharray="4 3"/></svg>\n'
    )


def _cells(figure: Figure) -> tuple[str, str, str, str, str]:
    limit = f"{'≥' if figure.is_floor else '≤'} {_amount(figure.limit, figure.unit)}"
    return (
        figure.name,
        _amount(figure.value, figure.unit),
        limit,
        "ok" if figure.within else "over",
        figure.detail,
    )


def _amount(value: float, unit: str) -> str:
    return f"{value:.0f} MB" if unit == "MB" else f"{value:.2f} {unit}"

"""What compiling several configurations of autotuned kernels costs, told before it is paid."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from portcheck.cells import Cell
from portcheck.expansion import Cost


def told(costs: Iterable[tuple[Cell, Cost]]) -> Iterator[str]:
    """One line a row that asks for more than its first configuration, of what is not known yet."""
    rows: dict[tuple[str, str], list[tuple[Cell, Cost]]] = {}
    for cell, cost in costs:
        if cost.unknown and cost.total > 1 and cell.row.settings.configs != "first":
            rows.setdefault((cell.row.name, cell.release), []).append((cell, cost))
    for (name, _), of_row in rows.items():
        yield f'{name}: {_counts(of_row)}: {_compiles(of_row)}; configs = "first" would take {len(of_row)}'


def _counts(of_row: list[tuple[Cell, Cost]]) -> str:
    asked = {cost.asked for _, cost in of_row}
    total = {cost.total for _, cost in of_row}
    where = str(of_row[0][0].target) if len(of_row) == 1 else f"each of {len(of_row)} targets"
    if len(asked) == len(total) == 1:
        return f"{asked.pop()} of {total.pop()} configurations for {where}"
    counts = ", ".join(f"{cost.asked} of {cost.total} for {cell.target}" for cell, cost in of_row)
    return f"configurations: {counts}"


def _compiles(of_row: list[tuple[Cell, Cost]]) -> str:
    unknown = sum(cost.unknown for _, cost in of_row)
    known = sum(cost.asked - cost.unknown for _, cost in of_row)
    seconds = [cost.seconds for _, cost in of_row]
    about = f", about {sum(filter(None, seconds)):.0f} s of compiling" if None not in seconds else ""
    return f"{unknown} compiles{about}" + (f", {known} are known" if known else "")

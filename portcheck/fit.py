"""Does a row fit the function it names? What only the imported kernel can tell of a manifest's mistakes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from portcheck.cells import Cell
from portcheck.manifest.canonical import row_specialisation
from portcheck.manifest.model import Row
from portcheck.patterns import suggestion


def mistakes(cell: Cell, kernel: Mapping[str, Any]) -> list[str]:
    """One line for each way in which the row and the kernel, as the child described it, do not match."""
    row = cell.row
    if kernel.get("missing"):
        return [f"{row.where}: {row.ref.unit} has no {row.ref.function}{_instead(row, kernel['kernels'])}"]
    if kind := kernel.get("no_kernel"):
        what = f"{row.ref.unit}:{row.ref.function} is a {kind}, no @triton.jit function"
        return [f"{row.where}: {what}{_instead(row, kernel['kernels'])}"]
    return [f"{row.where}: {mistake}" for mistake in _parameters(cell, kernel)]


def _instead(row: Row, names: list[str]) -> str:
    near = suggestion(row.ref.function, names)
    return f"{near}; kernels there: {', '.join(names)}" if names else "; there are no kernels in it"


def _parameters(cell: Cell, kernel: Mapping[str, Any]) -> Iterator[str]:
    row, parameters = cell.row, {parameter["name"]: parameter for parameter in kernel["params"]}
    takes = f"{row.ref.function} takes {', '.join(parameters) or 'no parameters'}"
    for where in ("constants", "signature"):
        for name in getattr(row, where):
            if name not in parameters:
                yield f'{where}: no parameter "{name}"{suggestion(name, parameters)}; {takes}'
    for name in row.signature:
        if name in parameters and parameters[name]["constexpr"]:
            yield f'signature: "{name}" is a tl.constexpr: give its value in constants'
    options = row.options_for(cell.target.backend)
    known = {name for names in kernel["options"].values() for name in names}
    for name in options:
        if name not in known:
            yield f'options: unknown option "{name}"{suggestion(name, known)}: no backend of this Triton has it'
    chosen = [name for name in kernel["tuned"] if name not in row.constants and name not in options]
    if chosen:
        yield (
            f"the kernel is autotuned and this row gives no {', '.join(chosen)}: "
            "add what its configurations set to constants and options (configurations are not expanded yet)"
        )
    computed = [name for name in kernel["computed"] if name not in row.constants]
    if computed:
        yield f"@triton.heuristics computes {', '.join(computed)} at launch: give the value in constants"
    for name, parameter in parameters.items():
        if name in row.constants or name in row.signature or name in chosen or name in computed:
            continue
        if not parameter["default"]:
            where = "constants: no value" if parameter["constexpr"] else "signature: no type"
            yield f'{where} for parameter "{name}"; {takes}'


def specialisation(cell: Cell, kernel: Mapping[str, Any]) -> dict[str, Any]:
    """What a launch would use: constants that have defaults, too, and of the options those that this backend knows.

    A launch on the other vendor's GPU would raise for an option that it lacks, so nobody's code passes it there.
    """
    spec = row_specialisation(cell.row, cell.target.backend)
    known = kernel["options"].get(cell.target.backend, ())
    defaults = {p["name"]: p["value"] for p in kernel["params"] if "value" in p and p["name"] not in spec["signature"]}
    return {
        **spec,
        "constants": {**defaults, **spec["constants"]},
        "options": {name: value for name, value in spec["options"].items() if name in known},
    }

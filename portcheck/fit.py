"""Does a row fit the function it names? What only the imported kernel can tell of a manifest's mistakes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from portcheck.cells import Cell
from portcheck.configurations import Configuration
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
    chosen = chosen_at_launch(cell, kernel)
    tuned = [name for name in kernel["tuned"] if name in chosen]
    given = [name for name in kernel["tuned"] if name not in chosen]
    if tuned and given:
        yield (
            f"the kernel is autotuned, and its configurations set {', '.join(given)} as this row does: leave that out, "
            f"or give {', '.join(tuned)} too to compile the row as written"
        )
    for name, parameter in parameters.items():
        if name in row.constants or name in row.signature or name in chosen:
            continue
        if not parameter["default"]:
            where = "constants: no value" if parameter["constexpr"] else "signature: no type"
            yield f'{where} for parameter "{name}"; {takes}'


def chosen_at_launch(cell: Cell, kernel: Mapping[str, Any]) -> set[str]:
    """Names of what autotuning and heuristics decide; none if the row gives it all, and is compiled as written."""
    given = {*cell.row.constants, *cell.row.options_for(cell.target.backend)}
    return {*kernel["tuned"], *kernel["computed"]} - given


def specialisation(cell: Cell, kernel: Mapping[str, Any]) -> dict[str, Any]:
    """What a launch would use: constants that have defaults, too, and of the options those that this backend knows.

    A launch on the other vendor's GPU would raise for an option that it lacks, so nobody's code passes it there. What a
    configuration sets is passed as it is, since the kernel's own autotuner does so.
    """
    spec = row_specialisation(cell.row, cell.target.backend)
    known = kernel["options"].get(cell.target.backend, ())
    defaults = {p["name"]: p["value"] for p in kernel["params"] if "value" in p and p["name"] not in spec["signature"]}
    chosen = cell.configuration or Configuration("", {}, {}, {})
    blocks = {name: {**spec["signature"][name], "type": kind} for name, kind in chosen.signature.items()}
    return {
        "signature": {**spec["signature"], **blocks},
        "constants": {**defaults, **spec["constants"], **chosen.constants},
        "options": {**{n: value for n, value in spec["options"].items() if n in known}, **chosen.options},
    }

"""Which ways there are to show a failure alone, the smallest first: a command, a stage on its input, the kernel."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from portcheck.cells import Cell
from portcheck.compiler.tree import as_triton_has_it
from portcheck.errors import UsageError
from portcheck.reproducer import kernelfile
from portcheck.reproducer.recorded import Recorded
from portcheck.verdicts import Failure

# Verdicts that no script can show, and why.
NOTHING_TO_SHOW = {
    "import-error": "it is raised before Triton is asked for anything; import the module in Python to see it",
    "toolchain-error": "the machine is at fault, which no script can take along",
}
# What a launch limit is about → what the script calls that number.
_ASKED = {
    "bytes of shared memory": "shared",
    "columns of tensor memory": "tmem",
    "threads a block": "threads",
    "registers a thread": "registers",
}
_KERNEL = "the kernel, the functions that it reaches, and the values of the names in them"
_COPIES = "copies of the modules that were imported for it"
_FIRST_INPUT = "mlir"  # what the name of the first stage's input ends in; later ones' end in the stage before


@dataclass(frozen=True, slots=True)
class Beside:
    """A file that lies beside the script."""

    path: str  # in the folder
    data: bytes
    about: str = ""  # what it is; of a folder's files, what the folder is, and only once


@dataclass(frozen=True, slots=True)
class Plan:
    """One way: the parts that the script is made of, its constants, and what lies beside it."""

    parts: tuple[str, ...]  # names in the folder `parts`
    what: str  # what the script does
    constants: tuple[tuple[str, str], ...]  # name → a Python expression
    beside: tuple[Beside, ...] = ()
    needs: tuple[str, ...] = ()  # packages besides Triton
    code: str = ""  # a function that the parts call
    command: tuple[str, ...] = ()  # of the assembler


def check_kind(cell: Cell, failure: Failure) -> None:
    """See that a failure is one of Triton's.

    Raises:
        UsageError: it is not; the message says what to do instead.
    """
    if why := NOTHING_TO_SHOW.get(failure.verdict):
        raise UsageError(f"--reproducer: {cell.name} ends in {failure.verdict}: {why}")
    if failure.stage == "import":
        raise UsageError(f"--reproducer: {cell.name} ends before Triton is asked for anything: {failure.message}")
    if (failure.error or "").startswith("portcheck_child"):
        raise UsageError(f"--reproducer: {cell.name}: it is portcheck that refuses this, not Triton: {failure.message}")


def plans(recorded: Recorded) -> Iterator[Plan]:
    """All ways to show a failure, the best first."""
    if recorded.failure.stage == "options":
        yield from _options(recorded)
    else:
        yield from _compiles(recorded)


def _options(recorded: Recorded) -> Iterator[Plan]:
    """Options that could be parsed are not what is wrong."""
    if recorded.fact("raw_options") is not None and recorded.fact("options") is None:
        constants = (*_target(recorded), ("OPTIONS", mapping(recorded.fact("raw_options"))))
        yield Plan(("options",), "parses the options of the launch", constants)


def _compiles(recorded: Recorded) -> Iterator[Plan]:
    stage = recorded.failure.stage
    if stage == "cubin" and recorded.fact("ptxas") and recorded.ends == "raised an exception":
        yield _command(recorded)
    if stage == "launch":
        yield _launch(recorded)
    elif stage in recorded.inputs:
        yield _stages(recorded, (stage,), ("stages", "no_look"), ())
    source = recorded.fact("source")
    if source and "unwritable" not in source and stage != "launch":
        yield from _kernels(recorded, source)


def _command(recorded: Recorded) -> Plan:
    command = tuple(recorded.fact("ptxas"))
    return Plan(
        ("command",),
        "runs ptxas on the PTX that Triton made",
        (("COMMAND", repr(list(command))), ("INPUT", repr("input.ptx"))),
        (Beside("input.ptx", recorded.inputs["cubin"], "the PTX"), *_for_reading(recorded)),
        command=command,
    )


def _launch(recorded: Recorded) -> Plan:
    """From the first stage that is not part of the front end, to the end, which has the numbers."""
    message = recorded.failure.message
    number = next(number for words, number in _ASKED.items() if words in message)
    limit = re.sub(r"asks for \d+", f"asks for {{{number}}}", message)
    limit = re.sub(r"with \d+ registers", "with {registers} registers", limit)
    return _stages(recorded, recorded.stages[1:], ("stages", "launch"), (("LIMIT", repr(limit)),))


def _stages(
    recorded: Recorded, stages: tuple[str, ...], parts: tuple[str, ...], more: tuple[tuple[str, str], ...]
) -> Plan:
    before = recorded.stages[recorded.stages.index(stages[0]) - 1] if stages[0] != recorded.stages[0] else _FIRST_INPUT
    name, data = f"input.{before}", recorded.inputs[stages[0]]
    source_class = (recorded.fact("source") or {}).get("class", ["", ""])[1]
    constants = (
        *_target(recorded),
        ("OPTIONS", mapping(recorded.fact("options", {}))),
        ("METADATA", mapping(recorded.fact(f"metadata.{stages[0]}", {}))),
        ("INPUT", repr(name)),
        ("STAGES", repr(list(stages))),
        ("LANGUAGE", repr("GLUON" if "Gluon" in source_class else "TRITON")),
        *more,
    )
    given = Beside(name, data, f"what stage `{stages[0]}` was given")
    return Plan(parts, f"runs Triton's {_listed(stages)} on {name}", constants, (given, *_for_reading(recorded)))


def _for_reading(recorded: Recorded) -> tuple[Beside, ...]:
    """The kernel's source, where the script does without."""
    text = (recorded.fact("source") or {}).get("text")
    return (Beside("kernel.py", text.encode(), f"where that comes from, for reading: {_KERNEL}"),) if text else ()


def _kernels(recorded: Recorded, source: Mapping[str, Any]) -> Iterator[Plan]:
    constants = (*_target(recorded), ("OPTIONS", mapping(recorded.fact("options", {}))))
    code = kernelfile.what_is_launched(source)
    if source["text"]:
        extract = (Beside("kernel.py", source["text"].encode(), _KERNEL),)
        yield Plan(("kernel",), "compiles the kernel in kernel.py", constants, extract, code=code)
    copies = kernelfile.copies(recorded.fact("modules", {}))
    beside = (
        Beside("kernel.py", kernelfile.loader(recorded.fact("modules", {}), source["entries"]), "loads the kernel"),
        *(Beside(path, data, "" if n else _COPIES) for n, (path, data) in enumerate(copies.items())),
    )
    what = "compiles the kernel from copies of its modules"
    yield Plan(("kernel",), what, constants, beside, needs=kernelfile.needs(copies), code=code)


def _target(recorded: Recorded) -> tuple[tuple[str, str], ...]:
    """As the arguments of Triton's GPUTarget."""
    return (("TARGET", repr(tuple(as_triton_has_it(recorded.cell.target)))),)


def mapping(expressions: Mapping[str, str]) -> str:
    """A dict of names to values, which are given as Python expressions."""
    return "{" + ", ".join(f"{name!r}: {value}" for name, value in expressions.items()) + "}"


def _listed(stages: tuple[str, ...]) -> str:
    return f"stage `{stages[0]}`" if len(stages) == 1 else f"stages `{stages[0]}` to `{stages[-1]}`"

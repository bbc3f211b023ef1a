"""`README.md` of a reproducer: what an issue has to say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from portcheck.diagnose.fingerprint import fingerprint
from portcheck.diagnose.signatures import advise
from portcheck.reproducer.plans import Plan
from portcheck.reproducer.recorded import Recorded
from portcheck.reproducer.script import NAME
from portcheck.toolchain.environments import undeclared

_DETAIL = 6000  # characters of what the compiler said
_FIND = 'TRITON=$(python -c "import os, triton; print(os.path.dirname(triton.__file__))")'


def readme(recorded: Recorded, plan: Plan, remarks: Sequence[str]) -> str:
    """The text. `remarks`: what somebody who runs this has to know."""
    return "\n".join(_lines(recorded, plan, remarks)) + "\n"


def _lines(recorded: Recorded, plan: Plan, remarks: Sequence[str]) -> Iterator[str]:
    failure, cell, toolchain = recorded.failure, recorded.cell, recorded.toolchain
    where = f"{failure.position.file}:{failure.position.line}" if failure.position else None
    yield f"# {failure.verdict} in stage {failure.stage} on {cell.target} with Triton {toolchain.release}"
    yield from ("", *_block(failure.message), "")
    facts = {
        "Triton": f"{toolchain.release}, with Python {toolchain.python}",
        "target": str(cell.target),
        "kernel": f"`{cell.row.name}`" + (f", at {where}" if where else ""),
        "stage": failure.stage,
        "pass": failure.pass_name,
        "compiling it": recorded.ends,
        "fingerprint": fingerprint(failure),
    }
    yield from ("| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in facts.items() if value), "")
    packages = " ".join((f"triton=={toolchain.release}", *undeclared(toolchain.release), *plan.needs))
    yield from ("## To see it", "", "```sh", f"pip install {packages}", f"python {NAME}", "```", "")
    yield f"The script {plan.what}. No GPU is needed. The exit status is 0 if that fails as recorded, 1 if it does not,"
    yield f"2 without Triton. `python {NAME} --compile` does the same and compares nothing."
    if plan.command:
        words = " ".join(plan.command).replace("$INPUT", "input.ptx").replace("$OUTPUT", "/dev/null")
        yield from ("", "The command itself:", "", "```sh", _FIND, words, "```")
    yield from ("", *(f"- {remark}" for remark in remarks), "")
    yield from ("## Files", "", f"- `{NAME}`: the script; read it before running it")
    yield from (f"- `{_place(one.path)}`: {one.about}" for one in plan.beside if one.about)
    yield from ("", "## What the compiler said", "", *_block((failure.detail or failure.message)[:_DETAIL]))
    if advice := advise(failure):
        told = {"what": advice.title, "why": advice.why, "what to do": advice.do, "reported": advice.see}
        yield from ("", "## What is known of it", "", *(f"- {word}: {text}" for word, text in told.items() if text))


def _place(path: str) -> str:
    """A file of the folder itself, or the folder in it that holds it and others."""
    top, slash, _ = path.partition("/")
    return top + slash


def _block(text: str) -> Iterator[str]:
    fence = "```"
    while fence in text:
        fence += "`"
    yield from (fence, *text.splitlines(), fence)

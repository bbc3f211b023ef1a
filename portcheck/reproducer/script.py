"""`reproduce.py`: constants, then parts that are the same in every such script."""

from __future__ import annotations

import ast
from importlib.resources import files
from pprint import pformat

import portcheck
from portcheck.reproducer.plans import Plan
from portcheck.reproducer.recorded import Recorded

NAME = "reproduce.py"
MARK = "Written by portcheck"  # in every script, so that it is known again

_WIDTH = 116
_MODULES = ["inspect", "os", "re", "shutil", "signal", "subprocess", "sys", "tempfile", "time", "traceback"]


def script(recorded: Recorded, plan: Plan, variables: dict[str, str]) -> str:
    """The text of the script. `variables`: of the environment, as they were set."""
    failure, settings = recorded.failure, recorded.cell.row.settings
    constants = (
        ("TRITON", repr(recorded.toolchain.release)),
        ("VERDICT", repr(failure.verdict)),
        ("STAGE", repr(failure.stage)),
        ("MESSAGE", repr(failure.message)),
        ("ENDS", repr(recorded.ends)),
        ("EXPECTED", "MESSAGE" if recorded.expected == failure.message else repr(recorded.expected)),
        ("SECONDS, BYTES", repr((settings.timeout, settings.max_rss))),
        ("VARIABLES", repr(variables)),
        *plan.constants,
    )
    head = [
        _docstring(recorded, plan),
        *(f"import {module}" for module in _MODULES),
        "",
        "HERE = os.path.dirname(os.path.abspath(__file__))",
        *(f"{name} = {_folded(name, value)}{_COMMENTS.get(name, '')}" for name, value in constants),
    ]
    parts = [(files(__package__) / "parts" / f"{part}.txt").read_text() for part in (*plan.parts, "compare")]
    code = f"\n\n\n{plan.code.rstrip()}" if plan.code else ""
    return "\n".join(head) + code + "\n" + "".join(parts)


_COMMENTS = {
    "ENDS": "  # what compiling did",
    "SECONDS, BYTES": "  # the limits that applied",
    "VARIABLES": "  # of the environment, that Triton reads",
    "METADATA": "  # what the stages before have found out",
}


def _docstring(recorded: Recorded, plan: Plan) -> str:
    failure, cell = recorded.failure, recorded.cell
    needs = " and ".join((f"triton=={recorded.toolchain.release}", *plan.needs))
    lines = [
        f"{cell.name}: {failure.verdict} in stage {failure.stage}",
        "",
        f"    {failure.message}",
        "",
        f"This {plan.what.replace('`', '')}, and says whether that fails as it did.",
        f"It needs {needs}, and no GPU. --compile does it without comparing anything.",
        "Exit status: 0 if it fails as recorded, 1 if it does not, 2 if there is no Triton.",
        f"{MARK} {portcheck.__version__}.",
    ]
    text = "\n".join(lines).replace("\\", "\\\\").replace('"""', "'''")
    return f'"""{text}\n"""\n'


def _folded(name: str, value: str) -> str:
    """A long literal on several lines."""
    if len(name) + len(value) + 3 <= _WIDTH or value[0] not in "{[(":
        return value
    return pformat(ast.literal_eval(value), width=_WIDTH, sort_dicts=False)

"""What a failed compile says: the line worth reading, the detail around it, the pass that gave up."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from portcheck.diagnose.diagnostics import fatal_reason, fold, location, pass_name, reasons, unraised_error
from portcheck.diagnose.ptxas import ptxas_errors, ptxas_position

__all__ = ["Explanation", "explain", "location", "ptxas_position", "unraised_error"]

# Exceptions that say only that something failed; the reason is what the compiler printed on fd 2.
_HOLLOW = re.compile(
    r"PassManager::run failed|assembler rejected|encountered during parsing|LLD failed to link|exit status"
)
_EXCERPT = re.compile(r"^at \d+:\d+:$", re.MULTILINE)
_CARET = re.compile(r"^ *\^ *$", re.MULTILINE)
_REPR = re.compile(r"^(\w+)\((.*?),?\)$", re.DOTALL)
_LINKER = re.compile(r"LLD failed to link .* because\s+(?=\S)", re.DOTALL)
_TEMPORARY = re.compile(r"(?:/[\w.@+~-]+)*/tmp[a-z0-9_]{8}[\w./-]*")
_MAX_DETAIL = 16_000  # characters


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a compile failed, in the compiler's own words."""

    message: str  # one line
    detail: str  # everything worth reading; IR and temporary names are left out
    pass_name: str | None = None


def explain(stage: str, error_type: str | None, exception_text: str, stderr: str, stdout: str = "") -> Explanation:
    """Pick the line that says what is wrong.

    Args:
        stage: the stage that was running, named when nothing else is known.
        error_type: the type of the innermost exception (`builtins.KeyError`); None for a process that died, and for a
            compile that returned although the compiler printed an error.
        exception_text: its text, or the texts of the whole chain, outermost first, each on a new line.
        stderr: what the cell wrote to fd 2.
        stdout: what it wrote to fd 1; Triton prints ptxas's output there, too.
    """
    if error_type is None:
        message, detail = _died(exception_text, stderr)
    elif errors := ptxas_errors(exception_text) or (ptxas_errors(stdout) if "PTXAS" in error_type else []):
        message, detail = errors[0], "\n".join(errors)
    elif _HOLLOW.search(exception_text):
        message, detail = _hollow(exception_text, stderr)
    else:
        message, detail = _raised(error_type.rpartition(".")[2], exception_text), exception_text
    first = next(
        (line.strip() for line in message.splitlines() if line.strip()), f"no reason was given in stage {stage}"
    )
    return Explanation(
        without_temporary_names(first), without_temporary_names(detail.strip())[:_MAX_DETAIL], pass_name(stderr)
    )


def without_temporary_names(text: str) -> str:
    """`text` with one word for all files and folders that were made for a moment."""
    return _TEMPORARY.sub("TEMP", text)


def _died(text: str, stderr: str) -> tuple[str, str]:
    message = fatal_reason(stderr) or next(iter(reasons(stderr)), text)
    return message, "\n".join(filter(None, (text, fold(stderr))))


def _hollow(text: str, stderr: str) -> tuple[str, str]:
    message = next(iter(reasons(stderr)), None) or _LINKER.sub("", text)
    return message, "\n".join(filter(None, (text, fold(stderr))))


def _raised(error: str, text: str) -> str:
    """The text of the innermost cause. The front end puts a source excerpt with a caret before it."""
    innermost = text[[match.start() for match in _EXCERPT.finditer(text)][-1] :] if _EXCERPT.search(text) else text
    carets = list(_CARET.finditer(innermost))
    said = innermost[carets[-1].end() :].strip() if carets else innermost.strip()
    if not said and carets:
        return f"{error}: {innermost[: carets[-1].start()].rstrip().rpartition(chr(10))[2].strip()}"
    said = _unwrapped(said)
    bare = not re.search(r"\s", said) or error == "KeyError"
    return said if not bare or said.startswith(error) else f"{error}: {said}".removesuffix(": ")


def _unwrapped(text: str) -> str:
    """`ValueError("…")`, as the front end quotes some causes, without its wrapping."""
    if wrapped := _REPR.match(text.splitlines()[0] if text else ""):
        try:
            inner = ast.literal_eval(wrapped[2])
        except (SyntaxError, ValueError):
            return text
        if isinstance(inner, str):
            return inner
    return text

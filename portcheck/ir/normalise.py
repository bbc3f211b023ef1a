"""IR without its accidents, so that a diff of two texts shows what the compiler did differently and nothing else.

Gone are places in the source, comments, debug information, the numbers of metadata and attribute groups, hashes in
symbols, and names of values: each is called after the operation that made it, so that an operation more or less does
not rename all that follow. What stays says something: types, layouts, constants, control flow.

That does not tell which of two loads is added to what. Where it matters, values can be numbered instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial

import xxhash

# A hash at the end of a symbol: hex digits with at least one figure and one letter among them.
_HASH = re.compile(r"(?<=\w)[_.$](?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,64}(?![0-9A-Za-z_])")
_NUMBERED = re.compile(r"@(printf\w*?|assert\w*?|\.str)[._]?\d+\b")


def normalise(stage: str, text: str, *, numbered: bool = False) -> list[str]:
    """The lines of one stage's output without their accidents. Texts of unknown stages are read as MLIR.

    With `numbered`, values are numbered in the order in which they appear: texts are then equal only if the same
    operations are applied to the same values. (The registers of AMD's assembly are real ones, and keep their numbers.)
    """
    lines = _LANGUAGES.get(stage, _mlir)(text, numbered)
    lines = (_NUMBERED.sub(r"@\1", _HASH.sub("", line)).rstrip() for line in lines)
    return [line for line in lines if line.strip()]


# MLIR: source, ttir, ttgir

_LOC_LINE = re.compile(r"^\s*#loc\d* = ")
_MLIR_FUNCTION = re.compile(r"^\s*(?:tt|llvm|func|gluon)\.func\b")
_MLIR_RESULT = re.compile(r'^\s*((?:%[\w$.-]+(?::\d+)?(?:, )?)+) = "?([\w.]+)"?')
_ALIAS = re.compile(r"^(#[A-Za-z_]\w*?)(\d*) = (.*)$")
_VALUE = re.compile(r"%([\w$.-]+)")


def _mlir(text: str, numbered: bool) -> Iterator[str]:
    text = without_locations("\n".join(line for line in text.splitlines() if not _LOC_LINE.match(line)))
    lines = _renamed_aliases(text).splitlines()
    for function in _functions(lines, _MLIR_FUNCTION):
        yield from _numbered(function) if numbered else _renamed(function, _MLIR_FUNCTION, _mlir_made)


def without_locations(text: str) -> str:
    """MLIR without `loc(…)`, which nests and quotes."""
    parts, at = [], 0
    for match in re.finditer(r"\s?\bloc\(", text):
        if match.start() < at:
            continue  # inside one that is gone already
        parts.append(text[at : match.start()])
        at = _closing(text, match.end())
    return "".join([*parts, text[at:]])


def _closing(text: str, at: int) -> int:
    """Behind the parenthesis that closes the one before `at`."""
    depth, quoted = 1, False
    while at < len(text) and depth:
        character = text[at]
        if quoted:
            at += character == "\\"
            quoted = character != '"'
        elif character == '"':
            quoted = True
        else:
            depth += {"(": 1, ")": -1}.get(character, 0)
        at += 1
    return at


def _renamed_aliases(text: str) -> str:
    """Layouts are numbered as they come; here each is called after its content: `#blocked.3f2a`."""
    names = {}
    for line in text.splitlines():
        if match := _ALIAS.match(line):
            base, number, content = match.groups()
            plain = re.sub(r"(#[A-Za-z_]\w*?)\d+\b", r"\1", content)
            names[base + number] = f"{base}.{xxhash.xxh32_hexdigest(plain.encode())[:4]}"
    return re.sub(r"#[A-Za-z_]\w*", lambda match: names.get(match[0], match[0]), text)


def _mlir_made(line: str) -> Iterator[tuple[str, str]]:
    if match := _MLIR_RESULT.match(line):
        operation = match[2].rpartition(".")[2]
        for result in match[1].split(", "):
            yield result[1:].partition(":")[0], operation


# LLVM IR

_LLVM_FUNCTION = re.compile(r"^define\b")
_LLVM_RESULT = re.compile(r"^\s*%([\w$.-]+) = (?:(?:tail|musttail|notail) )?([a-z]+)")
_LLVM_LABEL = re.compile(r"^([\w$.-]+):")
_LLVM_DROPPED = re.compile(
    r"^(?:source_filename\b|!llvm\.(?:dbg|ident)|!\d+ = (?:distinct )?!DI|\s*#dbg_|.*@llvm\.dbg\.)"
)
_LLVM_ONLY_REFERENCES = re.compile(r"^! = (?:distinct )?!\{(?:null|!)?(?:, (?:null|!))*\}$")


def _llvm(text: str, numbered: bool) -> Iterator[str]:
    kept = (_llvm_line(line) for line in text.splitlines() if not _LLVM_DROPPED.match(line))
    lines = [line for line in kept if not _LLVM_ONLY_REFERENCES.match(line)]
    for function in _functions(lines, _LLVM_FUNCTION):
        yield from _numbered(function) if numbered else _renamed(function, _LLVM_FUNCTION, _llvm_made)


def _llvm_line(line: str) -> str:
    line = re.sub(r",? !dbg !\d+", "", _without_comment(line, ";"))
    line = re.sub(r"!\d+\b", "!", line)
    return re.sub(r"(?<=[\s)])#\d+\b", "#", line)


def _llvm_made(line: str) -> Iterator[tuple[str, str]]:
    if match := _LLVM_RESULT.match(line):
        yield match[1], match[2]
    elif match := _LLVM_LABEL.match(line):
        yield match[1], "bb"


# PTX

_PTX_DROPPED = re.compile(r"^\s*(?:\.loc\b|\.file\b|\$L__(?:tmp|func_begin|func_end)\d+:)")
_DEBUG_SECTION = re.compile(r"^\s*\.section\s+\.debug")


def _ptx(text: str, numbered: bool) -> Iterator[str]:
    inside, names = False, dict[str, str]()
    for whole in text.splitlines():
        line = _without_comment(whole, "//")
        if _DEBUG_SECTION.match(line):
            inside = True
        if inside:
            inside = not line.rstrip().endswith("}")
        elif not _PTX_DROPPED.match(line):
            line = re.sub(r"(%[a-z]+)<\d+>", r"\1", line)
            line = re.sub(r"(%[a-z]+)\d+\b", partial(_number, names) if numbered else r"\1", line)
            yield re.sub(r"\$L__BB\d+_\d+", "$L__BB", line)


# The assembly of AMD's GPUs

_GCN_DROPPED = re.compile(r"^\s*(?:\.loc|\.file|\.cfi_\w+|\.ident|\.addrsig\w*)\b|^\.L(?:tmp|func_begin|func_end)\d+:")
_GCN_SECTION = re.compile(r"^\s*\.(?:section|text|amdgpu_metadata)\b")
_GCN_RANGE = re.compile(r"\b([asv]|ttmp)\[(\d+):(\d+)\]")


def _gcn(text: str, numbered: bool) -> Iterator[str]:
    inside = False
    for whole in text.splitlines():
        line = _without_comment(whole, ";")
        if _GCN_SECTION.match(line):
            inside = _DEBUG_SECTION.match(line) is not None
        if not inside and not _GCN_DROPPED.match(line):
            if numbered:
                yield line
                continue
            line = _GCN_RANGE.sub(lambda match: f"{match[1]}[{int(match[3]) - int(match[2]) + 1}]", line)
            line = re.sub(r"\b([asv])\d+\b", r"\1", line)
            yield re.sub(r"\.L(BB|tmp|func_begin|func_end)\d+(?:_\d+)?", r".L\1", line)


def _functions(lines: list[str], start: re.Pattern[str]) -> Iterator[list[str]]:
    """The lines in pieces that begin at a function, whose values have names of their own."""
    piece: list[str] = []
    for line in lines:
        if start.match(line) and piece:
            yield piece
            piece = []
        piece.append(line)
    yield piece


def _renamed(
    lines: list[str], start: re.Pattern[str], made: Callable[[str], Iterator[tuple[str, str]]]
) -> Iterator[str]:
    """One function with its values called after what made them, and its arguments by their number."""
    names: dict[str, str] = {}
    if lines and start.match(lines[0]):
        names = {name: f"arg{number}" for number, name in enumerate(dict.fromkeys(_VALUE.findall(lines[0])))}
    labels = set()
    for line in lines[1 if names else 0 :]:
        for name, operation in made(line):
            names[name] = operation
            if operation == "bb":
                labels.add(name)
    for line in lines:
        label = _LLVM_LABEL.match(line)
        shown = f"bb:{line[label.end() :]}" if label and label[1] in labels else line
        yield _VALUE.sub(lambda match: f"%{names.get(match[1], 'arg')}", shown)


def _numbered(lines: list[str]) -> Iterator[str]:
    """One function with its values and labels numbered in the order in which they appear."""
    names: dict[str, str] = {}
    for line in lines:
        label = _LLVM_LABEL.match(line)
        shown = f"%{line}" if label else line
        yield re.sub(r"(%)[\w$.-]+", partial(_number, names), shown)


def _number(names: dict[str, str], match: re.Match[str]) -> str:
    return names.setdefault(match[0], f"{match[1]}{len(names)}")


def _without_comment(line: str, mark: str) -> str:
    """A line up to its comment; a mark between quotes is none."""
    if mark not in line:
        return line
    quoted = False
    for at, character in enumerate(line):
        if character == '"':
            quoted = not quoted
        elif not quoted and line.startswith(mark, at):
            return line[:at]
    return line


_LANGUAGES: dict[str, Callable[[str, bool], Iterator[str]]] = {"llir": _llvm, "ptx": _ptx, "amdgcn": _gcn}

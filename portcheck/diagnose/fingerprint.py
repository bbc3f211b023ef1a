"""A failure's fingerprint: equal for one cause on every machine, target and size, different for different causes."""

from __future__ import annotations

import re

import xxhash

from portcheck.verdicts import Failure

# Applied in this order. Digits inside an identifier (`fp8e4nv`, `int8`, `.tile::scatter4`) name a cause and stay.
_RULES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r" at 0x[0-9a-fA-F]+(?=>)", ""),  # <function g at 0x7f…>
        (r"\b0x[0-9a-fA-F]+\b", "#"),
        (r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "#"),  # UUIDs
        (r"\b[0-9a-f]{16,}(-\d+)?\b", "#"),  # digests, git revisions
        (r"""(['"])/[\w.~][^'"\n]*\1""", r"\1<path>\1"),  # quoted, so it may hold blanks
        (r"(?<![\w.)/])/[\w.~][^\s'\"`,;:()\[\]<>]+(:\d+)*", "<path>"),
        (r"(?<![\w/])[\w./+@-]*\w\.(py|ptx|cubin|cpp|amdgcn|hsaco|json)\b(:\d+)*", "<path>"),
        (r"\btmp[a-z0-9_]{8}\b", "<path>"),
        (r"\b(?:triton-amdgpu-assembler|<inline asm>|<unknown>)(:\d+)+", "<path>"),
        (r"\b(cuda|hip):(gfx)?[0-9a-f]+\b([:][a-z]+[+-])*", "<target>"),
        (r"\b([sS][mM]_?|compute_)\d+[af]?\b", "<target>"),
        (r"\bgfx[0-9a-f]{3,5}\b([:][a-z]+[+-])*", "<target>"),
        (r"[(\[]'[^'\n]*'(,|(, '[^'\n]*')+)[)\]]", "<list>"),  # what this target supports differs by target
        (r"\{'[^'\n]*'(, '[^'\n]*')*\}", "<list>"),  # a set's order changes from run to run
        (r"%(?!llvm\.)[\w$.#-]*\w", "%"),  # SSA names and registers, but not LLVM's intrinsics
        (r"\bt\d+\b", "%"),  # nodes of LLVM's instruction selection
        (r"#([a-zA-Z_]+)\d*\b(?![.\w])", r"#\1"),  # layout aliases: #blocked1
        (r"(?<!\w)(\d+x)+(?=[a-z!])", "#x"),  # tensor<32x32xi8>
        (r"(?<![\w.])\d+(x\d+)+\b", "#"),  # 128x64
        (r"(?<![\w.])[-+]?\d+(\.\d+)*(e[-+]?\d+)? ?(s|ms|B|bytes|[KMG]i?B)?\b(?![\w.]\w)", "#"),
        (r"#(, #)+", "#"),  # a shape, whatever its rank
        (r"\s+", " "),
    )
)
_LAYOUT = re.compile(r"<\{[^{}]*\}>")  # what a layout holds differs by target; its name stays


def fingerprint(failure: Failure) -> str:
    """16 hex digits over the failure's verdict, stage and normalised cause."""
    text = "\0".join((failure.verdict, failure.stage, cause(failure)))
    return xxhash.xxh3_128_hexdigest(text.encode("utf-8", "surrogatepass"))[:16]


def cause(failure: Failure) -> str:
    """The normalised message, and what tells causes apart where many have the same message."""
    more = distinction(failure)
    return f"{normalise(failure.message)} ({more})" if more else normalise(failure.message)


def distinction(failure: Failure) -> str | None:
    """The instruction that the AMD assembler refused, or where in the compiler an unspecific assertion stands."""
    return next((say(failure) for about, say in _MORE if about.search(failure.message)), None)


def _instruction(failure: Failure) -> str | None:
    """What the AMD assembler read where it said `invalid instruction`: the mnemonic in the line below."""
    found = _REFUSED.search(failure.detail)
    return found[1] if found else None


def _raised_by(failure: Failure) -> str | None:
    """Which source file of the compiler has an assertion, and the pass that ran: `false` is asserted in many places."""
    found = _ASSERTING.search(failure.detail)
    return " ".join(filter(None, (found[1] if found else None, failure.pass_name))) or None


_REFUSED = re.compile(r"error: [^\n]*\n\s*([\w.]+)")
_ASSERTING = re.compile(r"([\w.-]+\.(?:cpp|h|hpp|inc|cc)):\d+: [^\n]*Assertion")
# What the message says → what to add to it.
_MORE = (
    (
        re.compile(r"^(invalid instruction|instruction not supported on this GPU|.*operands? for instruction)"),
        _instruction,
    ),
    (re.compile(r"^Assertion [`'](false|isa<To>\(Val\).*|[^\"]{1,24})' failed"), _raised_by),
)


def normalise(message: str) -> str:
    """`message` without what varies between checkouts, machines, runs, targets and sizes."""
    while (folded := _LAYOUT.sub("", message)) != message:
        message = folded
    for pattern, replacement in _RULES:
        message = pattern.sub(replacement, message)
    return message.strip()

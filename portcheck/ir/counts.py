"""What IR consists of: how many operations of each kind."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

_MLIR = re.compile(r'^\s*(?:%[^=]* = )?"?([a-z_]\w*(?:\.\w+)+)')
_LLVM = re.compile(r"^\s+(?:%[^=]* = )?(?:(?:tail|musttail|notail) )?([a-z]+)\b")
_PTX = re.compile(r"^\s+(?:@!?%p\s+)?([a-z][\w.]*)\b(?!:)")
_GCN = re.compile(r"^\s+([a-z]\w*)\b(?!:)")

_LANGUAGES = {"llir": _LLVM, "ptx": _PTX, "amdgcn": _GCN}


def count(stage: str, lines: Iterable[str]) -> Counter[str]:
    """Operation → how often it is in the normalised lines of a stage."""
    pattern = _LANGUAGES.get(stage, _MLIR)
    return Counter(match[1] for line in lines if (match := pattern.match(line)))


def changed(old: Counter[str], new: Counter[str]) -> list[tuple[str, int, int]]:
    """(operation, before, now) of those whose number changed, the largest change first."""
    names = {name for name in {*old, *new} if old[name] != new[name]}
    return [(n, old[n], new[n]) for n in sorted(names, key=lambda n: (-abs(new[n] - old[n]), n))]

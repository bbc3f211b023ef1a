"""Stand-ins for the run-time arguments of a launch, as heuristics, pruning functions and hooks of the user's see them.

They answer what a row says of an argument (its type, whether 16 divides it), and nothing else: a guess would choose
configurations that no launch has. What cannot be answered ends the question, and `Undetermined` names the argument.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from . import values

_ASKED = (
    "abs add and bool ceil complex divmod eq float floor floordiv format ge gt index int invert le lshift lt "
    "mod mul ne neg or pos pow radd rand rdivmod repr rfloordiv rlshift rmod rmul ror round rpow rrshift "
    "rshift rsub rtruediv rxor str sub truediv trunc xor"
).split()
_WRITING = frozenset({"zero_", "fill_", "copy_"})  # what hooks do to tensors; no configuration depends on it


class Undetermined(BaseException):
    """User code asked for what a row does not say. Not an Exception, so that no fallback of the user's swallows it."""


class _Number:
    """A number that passes for an `int` or a `float`. It is none: C code reads those without asking."""

    def __init__(self, kind: type, name: str, divisible: bool = False) -> None:
        self.kind, self.name, self.divisible = kind, name, divisible

    @property  # type: ignore[misc]
    def __class__(self) -> type:  # what isinstance() looks at
        return self.kind

    def __mod__(self, other: Any) -> Any:
        if self.divisible and type(other) is int and other > 0 and 16 % other == 0:
            return 0
        raise Undetermined(self.name)

    def __eq__(self, other: Any) -> bool:
        """An argument is not None, and an integer that is 1 is a constant, for Triton and in rows."""
        if other is None or (type(other) is int and other == 1 and self.kind is int):
            return False
        raise Undetermined(self.name)

    def __ne__(self, other: Any) -> bool:
        return not self == other

    def __hash__(self) -> int:
        raise Undetermined(self.name)


def _asking(name: str) -> Callable[..., Any]:
    def asked(self: Any, *others: Any) -> Any:
        raise Undetermined(self.name)

    asked.__name__ = name
    return asked


for _name in ("__%s__" % one for one in _ASKED):
    if _name not in vars(_Number):
        setattr(_Number, _name, _asking(_name))


class Tensor:
    """A tensor argument: torch's names for what a row says of it."""

    def __init__(self, name: str, element: str, divisible: bool) -> None:
        self._name, self._element, self._divisible = name, element, divisible

    @property
    def dtype(self) -> Any:
        torch = sys.modules.get("torch")
        found = [getattr(torch, name, None) for name in _names(self._element)] if torch is not None else []
        for dtype in found:
            if type(dtype).__name__ == "dtype":
                return dtype
        raise Undetermined("%s.dtype" % self._name)

    @property
    def itemsize(self) -> int:
        return values.Element(self._element).itemsize

    def element_size(self) -> int:
        return self.itemsize

    def data_ptr(self) -> Any:
        return _Number(int, "the address of %s" % self._name, self._divisible)

    def __bool__(self) -> bool:
        raise Undetermined(self._name)

    def __getattr__(self, asked: str) -> Any:
        if asked.startswith("__"):
            raise AttributeError(asked)
        if asked in _WRITING:
            return lambda *args, **kwargs: self
        raise Undetermined("%s.%s" % (self._name, asked))


def _names(element: str) -> list[str]:
    """What torch may call an element type of Triton's; Triton itself knows, since it has to understand tensors."""
    from triton.runtime.jit import type_canonicalisation_dict as known

    return [str(name) for name, ours in known.items() if ours in (element, known.get(element))]


def argument(name: str, tree: Any, load: Callable[[str], Any]) -> Any:
    """The stand-in for the argument `name`; tuples nest, and may hold constants."""
    if isinstance(tree, list):
        return tuple(argument("%s[%d]" % (name, at), leaf, load) for at, leaf in enumerate(tree))
    if "constant" in tree:
        return values.constant(tree["constant"], load)
    kind, divisible = tree["type"], tree["divisible"]
    if kind.startswith("*"):
        return Tensor(name, kind[1:].removeprefix("k"), divisible)
    if kind.startswith("tensordesc"):
        return _descriptor(name, kind)
    return _Number(float if kind.startswith(("fp", "bf")) else int, name, divisible)


def _descriptor(name: str, kind: str) -> Any:
    """A real descriptor, whose block shape hooks set; only its block shape is known."""
    found = values.descriptor(kind)
    for of in ("shape", "strides"):
        extents = ("%s.%s[%d]" % (name, of, at) for at in range(len(found.block_shape)))
        setattr(found, of, [_Number(int, extent) for extent in extents])
    return found

"""From the manifest's abstract facts to what a launch would pass: constants, and stand-ins for run-time arguments.

A stand-in carries the facts that Triton specialises on (type, alignment, size), and Triton's own binder derives from it
what the target's backend derives from a real tensor. Nothing about attributes is written down here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from . import releases

# An integer of that type in a launch. Python integers become i32, i64 or u64 by their size; narrower types come from
# the parameter's annotation, whatever the value. Even, so that divisibility by 16 is added or taken as asked.
_INTEGERS = {"i64": 1 << 33, "u64": 1 << 63}
_SMALL = 32
_DESCRIPTOR = re.compile(r"tensordesc<\s*(\w+)\s*\[([\d\s,]+)\]\s*>")


class Unwritable(Exception):
    """A value that the manifest gives and this Triton cannot take."""


class Pointer:
    """A tensor argument. `dtype` is a plain string: Triton's binder takes the text after its last dot."""

    def __init__(self, element: str, divisible: bool, large: bool) -> None:
        self.dtype = element
        self._address = 0 if divisible else 8
        self._size = 1 << 31 if large else 0

    def data_ptr(self) -> int:
        return self._address

    def ptr_range(self) -> int:
        return self._size


class Element(str):
    """An element type that also knows its size, as a descriptor asks."""

    @property
    def itemsize(self) -> int:
        return max(1, int(re.findall(r"\d+", self)[0]) // 8)  # fp8e5b16, bf16, i1


def descriptor(text: str) -> Any:
    """A host tensor descriptor of type `tensordesc<fp16[64, 128]>`."""
    found = _DESCRIPTOR.fullmatch(text)
    if not found:
        raise Unwritable("type %r: descriptors are written tensordesc<fp16[64, 128]>" % text)
    if not releases.current().has_descriptors:
        raise Unwritable("type %r: this Triton has no tensor descriptors, which came with 3.4" % text)
    from triton.tools.tensor_descriptor import TensorDescriptor

    block = [int(n) for n in found[2].split(",")]
    strides = [1]
    for extent in reversed(block[1:]):
        strides.insert(0, strides[0] * max(extent, 16))
    base = Pointer(Element(found[1]), True, False)
    return TensorDescriptor(base, list(block), strides, list(block))


def descriptor_type(text: str, block: Sequence[Any]) -> str:
    """The type `text` with another block shape."""
    element = text[len("tensordesc<") :].partition("[")[0].strip()
    return "tensordesc<%s[%s]>" % (element, ", ".join(str(int(extent)) for extent in block))


def argument(tree: Any, load: Callable[[str], Any]) -> Any:
    """The stand-in for one run-time argument; tuples nest, and may hold constants."""
    if isinstance(tree, list):
        if not releases.current().takes_tuples:
            raise Unwritable("a tuple: this Triton takes none as arguments, which came with 3.3")
        return tuple(argument(leaf, load) for leaf in tree)
    if "constant" in tree:
        return constant(tree["constant"], load)
    kind, divisible, large = tree["type"], tree["divisible"], tree["large"]
    if kind.startswith("*"):
        return Pointer(kind[1:].removeprefix("k"), divisible, large)
    if kind.startswith("tensordesc"):
        return descriptor(kind)
    if kind in ("i1", "u1"):
        return True
    if kind.startswith(("fp", "bf")):
        return 0.5
    return _INTEGERS.get(kind, _SMALL) + (0 if divisible else 1)


def constant(value: Any, load: Callable[[str], Any]) -> Any:
    """A constant of the manifest as a Python value. `load` turns `module:function` into the function."""
    if not isinstance(value, dict):
        return value
    import triton.language as tl

    ((tag, inner),) = value.items()
    if tag == "none":
        return None
    if tag == "tuple":
        return tuple(constant(v, load) for v in inner)
    if tag == "constexpr":
        return tl.constexpr(constant(inner, load))
    if tag == "dtype":
        return tl.dtype(inner)
    if tag == "jit":
        return load(inner)
    raise Unwritable("unknown tag %r" % tag)


def written(value: Any) -> Any:
    """A Python value as a manifest writes it: the inverse of `constant`.

    Raises:
        Unwritable: a manifest has no way to write it.
    """
    import triton.language as tl

    kind = type(value)
    if value is None:
        return {"none": True}
    if kind in (bool, int, float, str):
        return value
    if kind in (tuple, list):
        return {"tuple": [written(one) for one in value]}
    if kind is tl.constexpr:
        return {"constexpr": written(value.value)}
    if kind is tl.dtype:
        return {"dtype": value.name}
    raise Unwritable("%r, a %s" % (value, kind.__name__))

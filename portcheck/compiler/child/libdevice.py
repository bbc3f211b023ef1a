"""Functions that are another on each backend: what Triton itself says when one of them is missing."""

from __future__ import annotations

import types
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from . import releases

STUBS = "triton.language.extra.libdevice"  # the module that users import from

Maps = Mapping[str, Mapping[str, Any]]  # backend → module of stubs → its own module; None: the stubs look for it


def maps(targets: Sequence[Sequence[Any]]) -> Maps:
    """What each backend puts in the place of which module, asked of it with one target each.

    Up to 3.1 no backend does: the stubs themselves look for what belongs to the backend, when they are called.
    """
    from triton.backends.compiler import GPUTarget
    from triton.compiler.compiler import make_backend

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        backends = {target[0]: make_backend(GPUTarget(*target)) for target in targets}
    return {n: b.get_module_map() if hasattr(b, "get_module_map") else {} for n, b in backends.items()}


def refusals(stub: Any, known: Maps) -> dict[str, str]:
    """Backend → what Triton says there of a stub that is called, for backends that lack the function."""
    said = {backend: releases.current().refusal(stub, backend, modules) for backend, modules in known.items()}
    return {backend: text for backend, text in said.items() if text is not None}


def is_stub(found: Any) -> bool:
    """Is it a function that each backend replaces by its own?"""
    return isinstance(found, types.FunctionType) and found.__module__ == STUBS and not found.__name__.startswith("_")

"""What cells are called as tasks: doit takes what has a `=` for a variable and its value, and refuses it in names."""

from __future__ import annotations


def doit_name(name: str) -> str:
    """A name as doit takes it: `attn[B=64]@cuda:90@3.9.0` is `attn[B%3D64]@cuda:90@3.9.0`."""
    return name.replace("%", "%25").replace("=", "%3D") if "=" in name else name


def own_name(name: str) -> str:
    """The inverse of `doit_name`."""
    return name.replace("%3D", "=").replace("%25", "%") if "%3D" in name else name

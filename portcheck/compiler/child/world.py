"""What every process of a tree carries along from the root: the fake device, the recorders, and where things lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .device import Device
from .inputs import Inputs
from .names import Names
from .pristine import Pristine
from .uses import Uses
from .walk import Walk


@dataclass
class World:
    """Made once in a root; each fork goes on with its copy."""

    folder: str  # the manifest's
    device: Device
    names: Names
    inputs: Inputs
    pristine: Pristine  # Triton as it was before user code
    walk: Walk
    uses: Uses
    options: dict[str, list[str]]  # backend → the launch options it knows
    environment: dict[str, str]  # before user code
    front: Any = None  # what a front end made that cells of this process share: see fronts
    patched: list[str] | None = None  # what user code replaced in Triton, as of the last import that ran any

"""Modules that ask about the device while they are imported get the cell's device; the others are imported once."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Project, Ran

TARGETS = ("cuda:75", "cuda:90", "hip:gfx942")
MODULE = """
import os
import triton
import triton.language as tl
{imports}

with open("imports.txt", "a") as file:
    file.write(__name__.rpartition(".")[2] + "\\n")

VALUE = tl.constexpr(7000 + ({value}))

@triton.jit
def store(x):
    tl.store(x, {stored})
"""


def module(value: str = "0", imports: str = "", stored: str = "VALUE") -> str:
    """A module whose import is counted, and whose kernel stores 7000 and something."""
    return MODULE.format(value=value, imports=imports, stored=stored)


MODULES = {
    "plain": module(),
    "asks_driver": module("driver.active.get_current_target().warp_size", "from triton.runtime import driver"),
    "asks_info": module("2 if is_hip() else 1", "from triton.language.target_info import is_hip"),
    "asks_torch": module(
        "10 * major + minor + (500 if torch.version.hip else 0)",
        "import torch\nmajor, minor = torch.cuda.get_device_capability(torch.device('cuda'))",
    ),
    "asks_late": module("0", "from triton.language.target_info import is_hip", "VALUE + 2 if is_hip() else VALUE + 1"),
    "asks_neutral": module("torch.cuda.device_count() if torch.cuda.is_available() else 0", "import torch"),
    "uses_asker": module("hardware.UNITS", "import hardware"),
    "package.kernels": module("HOPPER", "from package import HOPPER"),
}
# module → what its kernel stores above 7000, on each of TARGETS
EXPECTED = {
    "plain": (0, 0, 0),
    "asks_driver": (32, 32, 64),
    "asks_info": (1, 1, 2),
    "asks_torch": (75, 90, 594),
    "asks_late": (1, 1, 2),
    "asks_neutral": (1, 1, 1),
    "uses_asker": (40, 132, 304),
    "package.kernels": (0, 1, 0),
}
INDEPENDENT = {"plain", "asks_late", "asks_neutral"}
OTHERS = {
    "hardware.py": "import torch\nUNITS = torch.cuda.get_device_properties(0).multi_processor_count\n",
    "package/__init__.py": "import torch\nHOPPER = int(torch.cuda.get_device_capability() == (9, 0))\n",
    # As much of torch as is asked here: without a GPU, torch.cuda says so.
    "stubs/torch/__init__.py": "from torch import cuda, version\nclass Tensor: pass\ndef device(name): return name\n",
    "stubs/torch/cuda.py": """
        def is_available(): return False
        def device_count(): return 0
        def get_device_capability(device=None): raise RuntimeError("no NVIDIA driver")
    """,
    "stubs/torch/version.py": "cuda = '12.8'\nhip = None\n",
}


@pytest.fixture(scope="module")
def asking(make_project: Callable[[], Project]) -> Project:
    """One row a module, on four targets."""
    project = make_project()
    project.env = {"PYTHONPATH": str(project.folder / "stubs")}
    project.write({f"{name.replace('.', '/')}.py": text for name, text in MODULES.items()})
    project.write(OTHERS)
    rows = (f'[[kernel]]\nname = "{name}"\ntarget = "{name}:store"\nsignature = {{ x = "*i32" }}\n' for name in MODULES)
    project.write({"portcheck.toml": f"[defaults]\ntargets = {list(TARGETS)}\n" + "\n".join(rows)})
    return project


@pytest.fixture(scope="module")
def ran(asking: Project) -> Ran:
    """Its first run."""
    return asking.check("--save-ir", "ir")


@pytest.mark.parametrize("name", MODULES)
def test_constants_are_those_of_the_target(asking: Project, ran: Ran, name: str) -> None:
    stored = []
    for target in TARGETS:
        ttir = (asking.folder / "ir" / ran.cells[f"{name}@{target}"]["cell"] / "ttir").read_text()
        stored += [int(number) - 7000 for number in re.findall(r"arith.constant (7\d\d\d) : i32", ttir)]

    assert tuple(stored) == EXPECTED[name]


@pytest.mark.parametrize("name", MODULES)
def test_only_modules_that_ask_are_imported_once_a_target(asking: Project, ran: Ran, name: str) -> None:
    imports = (asking.folder / "imports.txt").read_text().split()

    assert imports.count(name.rpartition(".")[2]) == (1 if name in INDEPENDENT else len(TARGETS))


def test_a_second_run_imports_nothing(asking: Project, ran: Ran) -> None:
    before = (asking.folder / "imports.txt").read_text()

    again = asking.check()

    assert set(again.origins.values()) == {"cached"}
    assert (asking.folder / "imports.txt").read_text() == before


def test_kernels_of_a_module_that_asks_differ_in_hash_with_their_constants(ran: Ran) -> None:
    def hashes(name: str) -> set[str]:
        return {ran.cells[f"{name}@{target}"]["kernel_hash"] for target in TARGETS}

    assert len(hashes("plain")) == 1
    assert len(hashes("asks_driver")) > 1  # as many as its constant has values

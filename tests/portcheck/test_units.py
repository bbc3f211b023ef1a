"""Which user code is imported for which rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from portcheck.compiler.job import Unit
from portcheck.manifest.loader import load
from portcheck.units import units_of

MANIFEST = """
[defaults]
timeout = 10

[[kernel]]
name = "one"
target = "package.kernels:one"
signature = {}

[kernel.constants]
ACT = { jit = "acts.py:relu" }
BOTH = { tuple = [{ jit = "package.other:f" }, { jit = "package.kernels:g" }] }

[[kernel]]
name = "two"
target = "package.kernels:two"
signature = {}
timeout = 20
options_hip = { hook = { jit = "package.hooks:h" } }

[[kernel]]
name = "with_env"
target = "package.kernels:two"
signature = {}
env = { B = "2", A = "1" }

[[kernel]]
name = "file"
target = "sub/kernels.py:three"
signature = {}
setup = "package:prepare"
"""


@pytest.fixture
def units(tmp_path: Path) -> dict[str, Unit]:
    """Row → unit."""
    for name in ("acts.py", "sub/kernels.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "portcheck.toml").write_text(MANIFEST)
    return units_of(load(tmp_path / "portcheck.toml").rows)


def test_rows_of_one_module_share_a_unit(units: dict[str, Unit]) -> None:
    assert units["one"] is units["two"] or units["one"] == units["two"]
    assert units["one"].functions == ("one", "two")
    assert units["one"].timeout == 20


def test_functions_named_by_constants_and_options_are_part_of_it(units: dict[str, Unit]) -> None:
    assert units["one"].references == ("acts.py:relu", "package.hooks:h", "package.kernels:g", "package.other:f")


def test_another_environment_or_setup_is_another_unit(units: dict[str, Unit]) -> None:
    assert units["with_env"] != units["two"]
    assert units["with_env"].env == (("A", "1"), ("B", "2"))
    assert (units["file"].setup, units["file"].is_file) == ("package:prepare", True)


def test_a_module_s_packages_are_above_it(units: dict[str, Unit]) -> None:
    above = units["one"].parent
    assert above is not None and (above.name, above.functions, above.references) == ("package", (), ())
    assert above.parent is None
    assert units["file"].parent is None
    assert Unit("kernels", False, ()).parent is None

"""Kernels of a unit from its recorded inputs, or by importing it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from portcheck.cache import Store
from portcheck.chain import Chains
from portcheck.compiler.job import Unit
from portcheck.compiler.tree import Imported
from portcheck.digests import Digests
from portcheck.inputlists import InputLists
from portcheck.installed import Installed
from portcheck.keys import make_key
from portcheck.observer import Observer
from portcheck.resolution import Resolver
from portcheck.target import parse_target
from portcheck.toolchain.imports import of_this

UNIT = Unit("kernels.py", True, ("k",))
CUDA, HIP = parse_target("cuda:90"), parse_target("hip:gfx942")
KERNELS = {"k": {"params": [], "tuned": [], "computed": [], "uses": [], "options": {}, "source": ["kernels.py", 1, 1]}}

MakeResolver = Callable[..., Resolver]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with sources."""
    folder = tmp_path / "project"
    folder.mkdir()
    for name in ("kernels.py", "helpers.py", "cuda.json", "hip.json"):
        (folder / name).write_text(name)
    return folder


@pytest.fixture
def make_resolver(store: Store, folder: Path) -> MakeResolver:
    """`make_resolver(NAME="value")` is the resolver of a new process that has these variables."""

    def make(**variables: str) -> Resolver:
        chains = Chains(store, "inputs", lambda **parts: make_key("inputs", salt="", toolchain="toolchain", **parts))
        observer = Observer(
            folder, folder / "triton", InputLists(store), Installed(of_this().site, Digests(store, folder), store)
        )
        return Resolver(chains, observer, variables, "installed")

    return make


def imported(folder: Path, *names: str, asked: tuple[str, ...] = (), **attributes: Any) -> Imported:
    """An import that read those files."""
    read = tuple(("file", str(folder / name)) for name in names)
    return Imported(**{"kernels": KERNELS, "inputs": read, "asked": asked, "began": later(), **attributes})


def later() -> float:
    """A moment after everything that was written so far, for an import to begin."""
    return time.time() + 1


def test_a_unit_that_was_imported_once_is_known(make_resolver: MakeResolver, folder: Path) -> None:
    assert make_resolver().look_up(UNIT, CUDA) is None
    recorded = make_resolver().record(UNIT, CUDA, imported(folder, "kernels.py", "helpers.py"))

    for target in (CUDA, HIP):
        found = make_resolver().look_up(UNIT, target)
        assert found is not None
        assert (found.kernels, found.wide, found.lists) == (KERNELS, recorded.wide, recorded.lists)


@pytest.mark.parametrize("name", ["kernels.py", "helpers.py"])
def test_a_changed_input_is_noticed_and_undoing_the_change_too(
    make_resolver: MakeResolver, folder: Path, name: str
) -> None:
    first = make_resolver().record(UNIT, CUDA, imported(folder, "kernels.py", "helpers.py"))

    (folder / name).write_text("changed")
    assert make_resolver().look_up(UNIT, CUDA) is None
    second = make_resolver().record(UNIT, CUDA, imported(folder, "kernels.py", "helpers.py"))
    assert second.wide != first.wide

    (folder / name).write_text(name)
    found = make_resolver().look_up(UNIT, CUDA)
    assert found is not None and found.wide == first.wide


def test_an_edit_that_reads_another_file_is_a_further_link(make_resolver: MakeResolver, folder: Path) -> None:
    make_resolver().record(UNIT, CUDA, imported(folder, "kernels.py"))
    (folder / "kernels.py").write_text("import helpers")
    make_resolver().record(UNIT, CUDA, imported(folder, "kernels.py", "helpers.py"))

    assert make_resolver().look_up(UNIT, CUDA) is not None
    (folder / "helpers.py").write_text("changed")
    assert make_resolver().look_up(UNIT, CUDA) is None

    (folder / "kernels.py").write_text("kernels.py")
    assert make_resolver().look_up(UNIT, CUDA) is not None


def test_a_file_that_was_looked_for_and_appears_is_noticed(make_resolver: MakeResolver, folder: Path) -> None:
    make_resolver().record(UNIT, CUDA, imported(folder, "kernels.py", "tuning.json"))
    assert make_resolver().look_up(UNIT, CUDA) is not None

    (folder / "tuning.json").touch()

    assert make_resolver().look_up(UNIT, CUDA) is None


def test_a_unit_that_asks_about_the_device_is_resolved_per_target(make_resolver: MakeResolver, folder: Path) -> None:
    asked = ("kernels asked get_current_target",)
    cuda = make_resolver().record(UNIT, CUDA, imported(folder, "kernels.py", "cuda.json", asked=asked))
    assert make_resolver().look_up(UNIT, HIP) is None
    hip = make_resolver().record(UNIT, HIP, imported(folder, "kernels.py", "hip.json", asked=asked))

    assert cuda.wide != hip.wide
    for target, recorded in ((CUDA, cuda), (HIP, hip)):
        found = make_resolver().look_up(UNIT, target)
        assert found is not None and found.wide == recorded.wide
    (folder / "cuda.json").write_text("changed")
    assert make_resolver().look_up(UNIT, CUDA) is None
    assert make_resolver().look_up(UNIT, HIP) is not None


def test_a_unit_that_begins_to_ask_is_resolved_per_target_from_then_on(
    make_resolver: MakeResolver, folder: Path
) -> None:
    make_resolver().record(UNIT, CUDA, imported(folder, "kernels.py"))
    (folder / "kernels.py").write_text("asks now")
    recorded = make_resolver().record(UNIT, CUDA, imported(folder, "kernels.py", asked=("it asked",)))

    assert make_resolver().look_up(UNIT, HIP) is None
    found = make_resolver().look_up(UNIT, CUDA)
    assert found is not None and found.wide == recorded.wide
    (folder / "kernels.py").write_text("kernels.py")
    assert make_resolver().look_up(UNIT, HIP) is not None


@pytest.mark.parametrize(
    "other",
    [
        replace(UNIT, functions=("k", "l")),
        replace(UNIT, env=(("A", "1"),)),
        replace(UNIT, setup="package:prepare"),
        replace(UNIT, references=("activations.py:relu",)),
        replace(UNIT, name="other.py"),
    ],
)
def test_how_it_is_imported_counts(make_resolver: MakeResolver, folder: Path, other: Unit) -> None:
    make_resolver().record(UNIT, CUDA, imported(folder, "kernels.py"))

    assert make_resolver().look_up(UNIT, CUDA) is not None
    assert make_resolver().look_up(other, CUDA) is None


def test_how_long_it_may_take_does_not_count(make_resolver: MakeResolver, folder: Path) -> None:
    make_resolver().record(UNIT, CUDA, imported(folder, "kernels.py"))

    assert make_resolver().look_up(replace(UNIT, timeout=7), CUDA) is not None


def test_variables_that_were_read_count_and_others_do_not(make_resolver: MakeResolver, folder: Path) -> None:
    reading = imported(folder, "kernels.py", inputs=(("file", str(folder / "kernels.py")), ("env", "FACTOR")))
    make_resolver(FACTOR="1").record(UNIT, CUDA, reading)

    assert make_resolver(FACTOR="1", OTHER="1").look_up(UNIT, CUDA) is not None
    assert make_resolver(FACTOR="2").look_up(UNIT, CUDA) is None
    assert make_resolver().look_up(UNIT, CUDA) is None
    assert make_resolver(FACTOR="1").look_up(replace(UNIT, env=(("FACTOR", "2"),)), CUDA) is None


def test_variables_of_triton_count_whoever_reads_them(make_resolver: MakeResolver, folder: Path) -> None:
    make_resolver().record(UNIT, CUDA, imported(folder, "kernels.py"))

    assert make_resolver(TRITON_DEFAULT_FP_FUSION="0").look_up(UNIT, CUDA) is None


def test_the_whole_environment_counts_in_what_an_open_kernel_is_keyed_on(
    make_resolver: MakeResolver, folder: Path
) -> None:
    make_resolver(A="1").record(UNIT, CUDA, imported(folder, "kernels.py"))
    one, other = make_resolver(A="1").look_up(UNIT, CUDA), make_resolver(A="2").look_up(UNIT, CUDA)

    assert one is not None and other is not None and one.wide != other.wide


def test_packages_above_are_lists_of_their_own(make_resolver: MakeResolver, folder: Path) -> None:
    above = (("file", str(folder / "helpers.py")),)
    one = make_resolver().record(UNIT, CUDA, imported(folder, "kernels.py", before=(above,)))
    second = replace(UNIT, name="cuda.json")
    other = make_resolver().record(second, CUDA, imported(folder, "cuda.json", before=(above,)))

    assert len(one.lists) == len(other.lists) == 2
    assert one.lists[0] == other.lists[0]
    (folder / "helpers.py").write_text("changed")
    assert make_resolver().look_up(UNIT, CUDA) is None
    assert make_resolver().look_up(second, CUDA) is None


def test_triton_s_variables_that_a_module_sets_are_set_beforehand(make_resolver: MakeResolver, folder: Path) -> None:
    early = imported(folder, "kernels.py", env={"TRITON_F32_DEFAULT": "ieee"})
    recorded = make_resolver().record(UNIT, CUDA, early)

    found = make_resolver().look_up(UNIT, CUDA)
    assert found is not None
    assert found.unit.env == recorded.unit.env == (("TRITON_F32_DEFAULT", "ieee"),)


def test_an_import_that_does_what_no_record_can_hold_is_not_recorded(make_resolver: MakeResolver, folder: Path) -> None:
    make_resolver().record(UNIT, CUDA, imported(folder, "kernels.py", unfit=("subprocess.Popen by kernels",)))

    assert make_resolver().look_up(UNIT, CUDA) is None


def test_a_failed_import_is_not_recorded(make_resolver: MakeResolver, folder: Path) -> None:
    failed = imported(folder, "kernels.py", error={"type": "builtins.KeyError"})

    resolution = make_resolver().record(UNIT, CUDA, failed)

    assert resolution.failed is failed
    assert make_resolver().look_up(UNIT, CUDA) is None


def test_files_that_changed_while_they_were_imported_are_not_recorded(
    make_resolver: MakeResolver, folder: Path
) -> None:
    began = (folder / "kernels.py").stat().st_mtime - 1

    resolution = make_resolver().record(UNIT, CUDA, imported(folder, "kernels.py", began=began))

    assert resolution.kernels == KERNELS  # good for this run
    assert make_resolver().look_up(UNIT, CUDA) is None


def test_files_that_cannot_be_found_by_name_are_not_recorded(
    make_resolver: MakeResolver, folder: Path, tmp_path: Path
) -> None:
    hidden = tmp_path / "site-packages" / "package.py"
    hidden.parent.mkdir()
    hidden.touch()

    make_resolver().record(UNIT, CUDA, imported(folder, "kernels.py", str(hidden)))

    assert make_resolver().look_up(UNIT, CUDA) is None

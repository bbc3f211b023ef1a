"""Kernels of a unit from its recorded inputs, or by importing it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from portcheck.cache import Store
from portcheck.compiler.job import Unit
from portcheck.compiler.tree import Imported
from portcheck.inputs import Files
from portcheck.keys import make_key
from portcheck.resolution import Resolver
from portcheck.target import parse_target

UNIT = Unit("kernels.py", True, ("k",))
CUDA, HIP = parse_target("cuda:90"), parse_target("hip:gfx942")
KERNELS = {"k": {"params": [], "source": ["kernels.py", 1, 1]}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder whose files are older than any import of them."""
    folder = tmp_path / "project"
    folder.mkdir()
    for name in ("kernels.py", "helpers.py", "cuda.json", "hip.json"):
        (folder / name).write_text(name)
    return folder


@pytest.fixture
def make_resolver(store: Store, folder: Path) -> Callable[..., Resolver]:
    """`make_resolver()` is a new process's resolver; `environment=…` is part of its keys."""

    def make(environment: str = "") -> Resolver:
        files = Files(folder, [], folder / "triton")
        return Resolver(store, files, lambda **parts: make_key("inputs", "", "toolchain", machine=environment, **parts))

    return make


def imported(folder: Path, *names: str, asked: tuple[str, ...] = (), **attributes: Any) -> Imported:
    """An import that read those files."""
    paths = tuple(str(folder / name) for name in names)
    return Imported(**{"error": None, "kernels": KERNELS, "inputs": paths, "asked": asked, "output": "", **attributes})


def later() -> float:
    """A moment after everything that was written so far, for an import to begin."""
    return time.time() + 1


def test_a_unit_that_was_imported_once_is_known(make_resolver: Callable[..., Resolver], folder: Path) -> None:
    assert make_resolver().look_up(UNIT, CUDA) is None
    recorded = make_resolver().record(UNIT, CUDA, imported(folder, "kernels.py", "helpers.py"), later())

    for target in (CUDA, HIP):
        found = make_resolver().look_up(UNIT, target)
        assert found is not None
        assert (found.kernels, found.hash) == (KERNELS, recorded.hash)


@pytest.mark.parametrize("name", ["kernels.py", "helpers.py"])
def test_a_changed_input_is_noticed_and_undoing_the_change_too(
    make_resolver: Callable[..., Resolver], folder: Path, name: str
) -> None:
    first = make_resolver().record(UNIT, CUDA, imported(folder, "kernels.py", "helpers.py"), later())

    (folder / name).write_text("changed")
    assert make_resolver().look_up(UNIT, CUDA) is None
    second = make_resolver().record(UNIT, CUDA, imported(folder, "kernels.py", "helpers.py"), later())
    assert second.hash != first.hash

    (folder / name).write_text(name)
    found = make_resolver().look_up(UNIT, CUDA)
    assert found is not None and found.hash == first.hash


def test_an_edit_that_reads_another_file_is_a_further_link(
    make_resolver: Callable[..., Resolver], folder: Path
) -> None:
    make_resolver().record(UNIT, CUDA, imported(folder, "kernels.py"), later())
    (folder / "kernels.py").write_text("import helpers")
    make_resolver().record(UNIT, CUDA, imported(folder, "kernels.py", "helpers.py"), later())

    assert make_resolver().look_up(UNIT, CUDA) is not None
    (folder / "helpers.py").write_text("changed")
    assert make_resolver().look_up(UNIT, CUDA) is None

    (folder / "kernels.py").write_text("kernels.py")
    assert make_resolver().look_up(UNIT, CUDA) is not None


def test_a_file_that_was_looked_for_and_appears_is_noticed(
    make_resolver: Callable[..., Resolver], folder: Path
) -> None:
    make_resolver().record(UNIT, CUDA, imported(folder, "kernels.py", "tuning.json"), later())
    assert make_resolver().look_up(UNIT, CUDA) is not None

    (folder / "tuning.json").touch()

    assert make_resolver().look_up(UNIT, CUDA) is None


def test_a_unit_that_asks_about_the_device_is_resolved_per_target(
    make_resolver: Callable[..., Resolver], folder: Path
) -> None:
    asked = ("kernels asked get_current_target",)
    cuda = make_resolver().record(UNIT, CUDA, imported(folder, "kernels.py", "cuda.json", asked=asked), later())
    assert make_resolver().look_up(UNIT, HIP) is None
    hip = make_resolver().record(UNIT, HIP, imported(folder, "kernels.py", "hip.json", asked=asked), later())

    assert cuda.hash != hip.hash
    for target, recorded in ((CUDA, cuda), (HIP, hip)):
        found = make_resolver().look_up(UNIT, target)
        assert found is not None and found.hash == recorded.hash
    (folder / "cuda.json").write_text("changed")
    assert make_resolver().look_up(UNIT, CUDA) is None
    assert make_resolver().look_up(UNIT, HIP) is not None


def test_a_unit_that_begins_to_ask_is_resolved_per_target_from_then_on(
    make_resolver: Callable[..., Resolver], folder: Path
) -> None:
    make_resolver().record(UNIT, CUDA, imported(folder, "kernels.py"), later())
    (folder / "kernels.py").write_text("asks now")
    recorded = make_resolver().record(UNIT, CUDA, imported(folder, "kernels.py", asked=("it asked",)), later())

    assert make_resolver().look_up(UNIT, HIP) is None
    found = make_resolver().look_up(UNIT, CUDA)
    assert found is not None and found.hash == recorded.hash
    (folder / "kernels.py").write_text("kernels.py")
    assert make_resolver().look_up(UNIT, HIP) is not None


@pytest.mark.parametrize(
    "other",
    [
        replace(UNIT, functions=("k", "l")),
        replace(UNIT, env=(("A", "1"),)),
        replace(UNIT, setup="package:prepare"),
        replace(UNIT, also=(("activations.py", True),)),
        replace(UNIT, name="other.py"),
    ],
)
def test_how_it_is_imported_counts(make_resolver: Callable[..., Resolver], folder: Path, other: Unit) -> None:
    recorded = make_resolver().record(UNIT, CUDA, imported(folder, "kernels.py"), later())

    assert make_resolver().look_up(other, CUDA) is None
    assert make_resolver().record(other, CUDA, imported(folder, "kernels.py"), later()).hash != recorded.hash


def test_how_long_it_may_take_does_not_count(make_resolver: Callable[..., Resolver], folder: Path) -> None:
    make_resolver().record(UNIT, CUDA, imported(folder, "kernels.py"), later())

    assert make_resolver().look_up(replace(UNIT, timeout=7), CUDA) is not None


def test_the_machine_s_part_of_the_key_counts_in_the_hash(make_resolver: Callable[..., Resolver], folder: Path) -> None:
    plain = make_resolver().record(UNIT, CUDA, imported(folder, "kernels.py"), later())
    assert make_resolver(environment="FACTOR=2").look_up(UNIT, CUDA) is None

    other = make_resolver(environment="FACTOR=2").record(UNIT, CUDA, imported(folder, "kernels.py"), later())

    assert other.hash != plain.hash


def test_a_failed_import_is_not_recorded(make_resolver: Callable[..., Resolver], folder: Path) -> None:
    failed = imported(folder, "kernels.py", error={"type": "builtins.KeyError"})

    resolution = make_resolver().record(UNIT, CUDA, failed, later())

    assert resolution.failed is failed
    assert make_resolver().look_up(UNIT, CUDA) is None


def test_files_that_changed_while_they_were_imported_are_not_recorded(
    make_resolver: Callable[..., Resolver], folder: Path
) -> None:
    began = (folder / "kernels.py").stat().st_mtime - 1

    resolution = make_resolver().record(UNIT, CUDA, imported(folder, "kernels.py"), began)

    assert resolution.kernels == KERNELS  # good for this run
    assert make_resolver().look_up(UNIT, CUDA) is None


def test_files_that_cannot_be_found_by_name_are_not_recorded(
    make_resolver: Callable[..., Resolver], folder: Path, tmp_path: Path
) -> None:
    hidden = tmp_path / "site-packages" / "package.py"
    hidden.parent.mkdir()
    hidden.touch()

    make_resolver().record(UNIT, CUDA, imported(folder, "kernels.py", str(hidden)), later())

    assert make_resolver().look_up(UNIT, CUDA) is None


def test_a_chain_that_leads_in_a_circle_is_not_followed(
    make_resolver: Callable[..., Resolver], folder: Path, store: Store
) -> None:
    resolver = make_resolver()
    key = make_key("inputs", "", "toolchain", machine="", unit={}, target=None, device=None)
    first = resolver._first(UNIT, None)
    for _ in range(100):
        store.put("inputs", first.hex, first.preimage, {"files": ["kernels.py"]})
        first = resolver._next(first, resolver.files.read(resolver.files.locate(["kernels.py"])).contents)
    assert key != first

    assert make_resolver().look_up(UNIT, CUDA) is None

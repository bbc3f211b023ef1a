"""Why a cell is compiled again, in words."""

from __future__ import annotations

from typing import Any

import pytest

from portcheck.cache import Store
from portcheck.keys import canonical, digest
from portcheck.reasons import Memory, differences, flatten

OWN = "Triton's own key of k"


@pytest.mark.parametrize(
    ("before", "now", "told"),
    [
        ({"b": "1", "a": "1"}, {"a": "1", "b": "1"}, []),
        ({"b": "1", "a": "1"}, {"a": "2", "b": "2"}, ["a changed", "b changed"]),
        ({"a": "1"}, {"b": "1"}, ["a is gone", "b is new"]),
        ({OWN: "1", "a": "1"}, {OWN: "2", "a": "2"}, ["a changed"]),
        ({OWN: "1", "a": "1"}, {OWN: "2", "a": "1"}, [f"{OWN} changed"]),
    ],
)
def test_what_differs_is_told_and_triton_s_own_key_only_if_nothing_else_does(
    before: dict[str, str], now: dict[str, str], told: list[str]
) -> None:
    assert list(differences(before, now)) == told


def test_the_parts_of_a_key_have_names() -> None:
    made_of: dict[str, Any] = {
        "kernel": {"function k in k.py": "1"},
        "references": {"k.py:relu": {"function relu in k.py": "2"}, "k.py:unknown": None},
    }
    spec = {"signature": {"x": "*fp32"}, "constants": {"N": 3}, "options": {"num_warps": 4}}
    settings = {"variables": {"TRITON_DEBUG": "1"}, "knobs": {"nvidia": {"ptxas": "12.8"}}}

    assert flatten("digest", made_of, spec, settings) == {
        "the installation of Triton": "digest",
        "function k in k.py": "1",
        "function relu in k.py (through k.py:relu)": "2",
        "type of x": digest(canonical("*fp32")),
        "constant N": digest(canonical(3)),
        "option num_warps": digest(canonical(4)),
        "environment TRITON_DEBUG": "1",
        "triton.knobs.nvidia.ptxas": digest(canonical("12.8")),
    }


def test_an_open_kernel_is_also_made_of_what_importing_its_module_reads() -> None:
    spec: dict[str, Any] = {"signature": {}, "constants": {}, "options": {}}

    parts = [flatten("digest", {"kernel": None, "references": {}, "everything": read}, spec, {}) for read in ("1", "2")]

    assert list(differences(*parts)) == ["what importing the module reads, or the environment, changed"]


def test_the_last_compile_and_the_one_before_are_remembered_for_each_cell_and_folder(store: Store) -> None:
    memory = Memory(store, "/here")
    assert memory.last("k") == (None, None)

    memory.add("k", {"a": "1"})
    assert memory.last("k") == ({"a": "1"}, None)
    memory.add("k", {"a": "2"})
    memory.add("k", {"a": "2"})  # forced: nothing differs, and what did before is kept

    assert Memory(store, "/here").last("k") == ({"a": "2"}, {"a": "1"})
    assert memory.last("other") == Memory(store, "/there").last("k") == (None, None)


def test_a_memory_that_is_not_one_of_ours_is_none(store: Store) -> None:
    memory = Memory(store, "/here")
    store.put("local", *memory._key("k"), {"parts": {"a": 1}, "before": None})

    assert memory.last("k") == (None, None)

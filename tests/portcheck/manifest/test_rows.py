"""Variants: what they inherit, what they override, and which of them are rows."""

from __future__ import annotations

from pathlib import Path

from portcheck.manifest.loader import load
from portcheck.manifest.model import Argument, Expectation, Row
from portcheck.target import Target


def rows(tmp_path: Path, manifest: str) -> dict[str, Row]:
    """The rows of a manifest by name."""
    (tmp_path / "portcheck.toml").write_text(manifest)
    return {row.name: row for row in load(tmp_path / "portcheck.toml").rows}


def test_a_kernel_with_a_signature_is_a_row_beside_its_variants(tmp_path: Path) -> None:
    got = rows(
        tmp_path,
        """
        [[kernel]]
        name = "attention"
        target = "mod:attention"
        signature = { q = "*fp16:16", n = "i32" }
        [[kernel.variant]]
        name = "bf16"
        signature = { q = "*bf16:16" }
        """,
    )
    assert list(got) == ["attention", "attention[bf16]"]
    assert got["attention[bf16]"].signature == {"q": Argument("*bf16", divisible=True), "n": Argument("i32")}
    assert got["attention[bf16]"].ref == got["attention"].ref
    assert got["attention[bf16]"].where == 'portcheck.toml: kernel "attention" variant "bf16"'
    assert (got["attention[bf16]"].kernel, got["attention[bf16]"].variant) == ("attention", "bf16")


def test_a_kernel_that_leaves_the_signature_to_its_variants_is_no_row(tmp_path: Path) -> None:
    got = rows(
        tmp_path,
        """
        [[kernel]]
        name = "dot_small"
        target = "mod:dot_small"
        constants = { B = 32 }
        [[kernel.variant]]
        name = "fp16"
        signature = { a = "*fp16" }
        constants = { acc = { dtype = "fp32" } }
        [[kernel.variant]]
        name = "int8"
        signature = { a = "*i8" }
        constants = { acc = { dtype = "int32" } }
        """,
    )
    assert list(got) == ["dot_small[fp16]", "dot_small[int8]"]
    assert got["dot_small[int8]"].constants == {"B": 32, "acc": {"dtype": "int32"}}


def test_tables_merge_and_everything_else_replaces(tmp_path: Path) -> None:
    got = rows(
        tmp_path,
        """
        [defaults]
        targets = ["cuda:80", "hip:gfx942"]
        env = { A = "0", B = "0", C = "0" }
        [[kernel]]
        name = "k"
        target = "mod:k"
        signature = { x = "*fp16" }
        options = { num_warps = 4, num_stages = 3 }
        options_hip = { waves_per_eu = 2 }
        env = { B = "1", C = "1" }
        timeout = 10
        skip = ["hip:*"]
        xfail = ["cuda:80"]
        [[kernel.variant]]
        name = "v"
        options = { num_warps = 8 }
        options_hip = { kpack = 1 }
        options_cuda = { maxnreg = 64 }
        env = { C = "2" }
        timeout = 20
        skip = []
        xfail = ["hip:gfx942"]
        """,
    )["k[v]"]
    assert got.options == {"num_warps": 8, "num_stages": 3}
    assert got.backend_options == {"hip": {"waves_per_eu": 2, "kpack": 1}, "cuda": {"maxnreg": 64}}
    assert got.settings.env == {"A": "0", "B": "1", "C": "2"}
    assert got.settings.timeout == 20
    assert got.targets == (Target("cuda", "80"), Target("hip", "gfx942"))
    assert got.xfail == (Expectation("hip:gfx942"),)


def test_a_parameter_that_a_variant_moves_leaves_where_it_was(tmp_path: Path) -> None:
    got = rows(
        tmp_path,
        """
        [[kernel]]
        name = "k"
        target = "mod:k"
        signature = { x = "*fp16", n = "i32" }
        constants = { stride = 1, BLOCK = 64 }
        [[kernel.variant]]
        name = "v"
        signature = { stride = "i32:16" }
        constants = { n = 1 }
        """,
    )["k[v]"]
    assert got.signature == {"x": Argument("*fp16"), "stride": Argument("i32", divisible=True)}
    assert got.constants == {"BLOCK": 64, "n": 1}


def test_triton_s_constexpr_in_a_signature_leaves_the_parameter_to_constants(tmp_path: Path) -> None:
    got = rows(
        tmp_path,
        """
        [[kernel]]
        name = "k"
        target = "mod:k"
        signature = { x = "*fp16", BLOCK = "constexpr" }
        constants = { BLOCK = 64 }
        [[kernel.variant]]
        name = "v"
        signature = { x = "constexpr" }
        constants = { x = { none = true } }
        """,
    )
    assert (got["k"].signature, got["k"].constants) == ({"x": Argument("*fp16")}, {"BLOCK": 64})
    assert (got["k[v]"].signature, got["k[v]"].constants) == ({}, {"BLOCK": 64, "x": {"none": True}})


def test_a_skip_pattern_may_be_for_the_targets_of_a_variant_or_of_the_defaults(tmp_path: Path) -> None:
    got = rows(
        tmp_path,
        """
        [defaults]
        targets = ["cuda:80", "hip:gfx942"]
        [[kernel]]
        name = "k"
        target = "mod:k"
        signature = {}
        targets = ["cuda:90"]
        skip = ["hip:gfx942", "cuda:120"]
        [[kernel.variant]]
        name = "v"
        targets = ["cuda:120", "cuda:90"]
        """,
    )
    assert got["k"].targets == got["k[v]"].targets == (Target("cuda", "90"),)


def test_row_names_may_hold_any_character(tmp_path: Path) -> None:
    assert list(rows(tmp_path, "[[kernel]]\nname = 'a/b @ [x]*é'\ntarget = 'mod:k'\nsignature = {}")) == ["a/b @ [x]*é"]

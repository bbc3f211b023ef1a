"""Selecting cells from a manifest."""

from __future__ import annotations

from pathlib import Path

import pytest

from portcheck.errors import UsageError
from portcheck.manifest.loader import load
from portcheck.manifest.model import Manifest
from portcheck.suite import Selection, expectation, select

MANIFEST = """
[defaults]
targets = ["cuda:80", "cuda:90", "hip:gfx942"]

[[kernel]]
name = "axpy"
target = "mod:axpy"
signature = {}

[[kernel]]
name = "attn"
target = "mod:attn"
signature = {}
targets = ["hip:gfx1100", "cuda:90"]
skip = ["hip:gfx942"]
triton = ["3.8.0", "current"]
xfail = ["hip:gfx1100", { target = "cuda:*", triton = "<3.9", reason = "reported" }]

[[kernel.variant]]
name = "bf16"
targets = ["cuda:120"]
"""


def release(name: str) -> str:
    """The release that a manifest's name for one is: `current` is 3.9.0 here."""
    return "3.9.0" if name == "current" else name


@pytest.fixture
def manifest(tmp_path: Path) -> Manifest:
    """Three rows that differ in targets, releases and skips."""
    (tmp_path / "portcheck.toml").write_text(MANIFEST)
    return load(tmp_path / "portcheck.toml")


def names(manifest: Manifest, selection: Selection) -> list[str]:
    """The names of the cells that are selected."""
    return [cell.name for cell in select(manifest, selection, release)]


def test_without_a_selection_every_row_has_its_own_lists(manifest: Manifest) -> None:
    assert names(manifest, Selection()) == [
        "axpy@cuda:80@3.9.0",
        "axpy@cuda:90@3.9.0",
        "axpy@hip:gfx942@3.9.0",
        "attn@cuda:90@3.8.0",
        "attn@cuda:90@3.9.0",
        "attn@hip:gfx1100@3.8.0",
        "attn@hip:gfx1100@3.9.0",
        "attn[bf16]@cuda:120@3.8.0",
        "attn[bf16]@cuda:120@3.9.0",
    ]


def test_targets_replace_every_list_and_skip_still_removes(manifest: Manifest) -> None:
    assert names(manifest, Selection(targets=("hip:gfx942", "cuda:75"), triton=("3.8.0",))) == [
        "axpy@hip:gfx942@3.8.0",
        "axpy@cuda:75@3.8.0",
        "attn@cuda:75@3.8.0",
        "attn[bf16]@cuda:75@3.8.0",
    ]


def test_wildcards_filter_each_row_s_own_list(manifest: Manifest) -> None:
    assert names(manifest, Selection(targets=("hip:*", "cuda:90"), triton=("3.8.0",))) == [
        "axpy@hip:gfx942@3.8.0",
        "axpy@cuda:90@3.8.0",
        "attn@hip:gfx1100@3.8.0",
        "attn@cuda:90@3.8.0",
        "attn[bf16]@cuda:90@3.8.0",
    ]


def test_current_and_the_release_that_it_is_are_one(manifest: Manifest) -> None:
    selection = Selection(targets=("cuda:90",), kernels=("axpy",), triton=("current", "3.9.0", "3.8.0"))
    assert names(manifest, selection) == ["axpy@cuda:90@3.9.0", "axpy@cuda:90@3.8.0"]


def test_a_release_is_looked_up_once(manifest: Manifest) -> None:
    asked: list[str] = []

    def ask(name: str) -> str:
        asked.append(name)
        return release(name)

    select(manifest, Selection(), ask)
    assert sorted(asked) == ["3.8.0", "current"]


@pytest.mark.parametrize(
    ("pattern", "rows"), [("attn", {"attn"}), ("attn*", {"attn", "attn[bf16]"}), ("attn[bf16]", {"attn[bf16]"})]
)
def test_kernel_patterns_cover_whole_row_names(manifest: Manifest, pattern: str, rows: set[str]) -> None:
    cells = select(manifest, Selection(kernels=(pattern,)), release)
    assert {cell.row.name for cell in cells} == rows


def test_limits_replace_those_of_every_row(manifest: Manifest) -> None:
    for cell in select(manifest, Selection(timeout=7.5, max_rss=1 << 20), release):
        assert (cell.row.settings.timeout, cell.row.settings.max_rss) == (7.5, 1 << 20)
    assert {cell.row.settings.timeout for cell in select(manifest, Selection(), release)} == {300}


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        (Selection(kernels=("atn",)), r'no row of portcheck.toml matches "atn" \(did you mean attn\?\)'),
        (Selection(kernels=("attn", "zzz*")), 'no row of portcheck.toml matches "zzz'),
        (Selection(targets=("hip:gfx12*",)), r'no target of portcheck.toml matches "hip:gfx12\*"'),
        (Selection(targets=("hpi:*",)), r"matches no backend \(did you mean hip\?\)"),
        (Selection(targets=("cuda:9x",)), 'malformed target "cuda:9x"'),
        (Selection(triton=("curent",)), r'unknown release "curent" \(did you mean current\?\)'),
        (Selection(targets=("rocm:gfx942",)), 'unknown target "rocm:gfx942"'),
        (
            Selection(targets=("hip:gfx942",), kernels=("attn",)),
            "nothing is selected: no selected row keeps hip:gfx942",
        ),
    ],
)
def test_selections_that_match_nothing(manifest: Manifest, selection: Selection, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        select(manifest, selection, release)


def test_a_manifest_without_kernels_selects_nothing(tmp_path: Path) -> None:
    (tmp_path / "portcheck.toml").write_text("")
    with pytest.raises(UsageError, match=r"nothing is selected: the manifest has no \[\[kernel\]\]"):
        select(load(tmp_path / "portcheck.toml"), Selection(), release)


def test_a_row_without_targets_needs_them_named(tmp_path: Path) -> None:
    (tmp_path / "portcheck.toml").write_text(
        "[[kernel]]\nname = 'k'\ntarget = 'mod:k'\nsignature = {}\nskip = ['hip:*']"
    )
    manifest = load(tmp_path / "portcheck.toml")
    with pytest.raises(UsageError, match=r'kernel "k": no targets: give them here, in \[defaults\] or with -t'):
        select(manifest, Selection(), release)
    assert names(manifest, Selection(targets=("cuda:80", "hip:gfx942"))) == ["k@cuda:80@3.9.0"]


@pytest.mark.parametrize(
    ("target", "triton", "reason"),
    [("cuda:90", "3.8.0", "reported"), ("cuda:90", "3.9.0", "none"), ("hip:gfx1100", "3.9.0", None)],
)
def test_the_expectation_of_a_cell(manifest: Manifest, target: str, triton: str, reason: str | None) -> None:
    (cell,) = select(manifest, Selection((target,), (triton,), ("attn",)), release)
    expected = expectation(cell)
    assert (expected.reason if expected else "none") == reason


def test_paths_are_relative_to_who_names_them_and_come_last(
    manifest: Manifest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")
    asked: list[str] = []

    def ask(name: str) -> str:
        asked.append(name)
        return f"release {len(asked)}"

    select(manifest, Selection(triton=("./a.whl", "3.8.0", "~/venv")), ask)

    assert asked == ["3.8.0", "/a.whl", str(Path("~/venv").expanduser())]

"""The file of a baseline, and whose failures it knows."""

from __future__ import annotations

from pathlib import Path

import pytest

from portcheck.baseline import Entry, dump, entry_of, load, stale
from portcheck.errors import UsageError
from portcheck.manifest.loader import load as load_manifest
from portcheck.verdicts import Failure

SCATTER = Failure("assembler-error", "cubin", "Feature '.tile::scatter4' not supported on .target 'sm_90a'")
HEAD = 'schema = "portcheck-baseline/1"\n[cells]\n'
ENTRY = '{ fingerprint = "0123456789abcdef", verdict = "mlir-error", stage = "ttgir", message = "bad" }'


def test_a_baseline_has_a_sorted_line_for_each_cell_and_comes_back_equal(tmp_path: Path) -> None:
    entries = {"scatter@cuda:90@3.9.0": entry_of(SCATTER), "a[b]@hip:gfx942@3.9.0": entry_of(SCATTER)}

    text = dump(entries)
    (tmp_path / "baseline.toml").write_text(text)

    assert load(tmp_path / "baseline.toml") == entries
    assert text == dump(dict(reversed(entries.items())))
    assert [line.partition(" = ")[0] for line in text.splitlines()[4:]] == [
        '"a[b]@hip:gfx942@3.9.0"',
        '"scatter@cuda:90@3.9.0"',
    ]


def test_an_empty_baseline_is_one(tmp_path: Path) -> None:
    (tmp_path / "baseline.toml").write_text(dump({}))

    assert load(tmp_path / "baseline.toml") == {}


@pytest.mark.parametrize("message", ['quotes " and \\', "tab\tand \x7f", "\x00\x1b[31m", "grün 🎉", "lone \udce4"])
def test_any_message_can_be_kept(tmp_path: Path, message: str) -> None:
    entry = Entry("0123456789abcdef", "mlir-error", "ttgir", message)
    (tmp_path / "baseline.toml").write_text(dump({"a@b@c": entry}), encoding="utf-8")

    read = load(tmp_path / "baseline.toml")["a@b@c"].message

    assert read == message.replace("\udce4", "\ufffd")


def test_an_entry_is_of_every_failure_with_its_fingerprint_and_so_is_its_text() -> None:
    other = Failure("assembler-error", "cubin", "Feature '.tile::scatter4' not supported on .target 'sm_120a'")

    assert entry_of(SCATTER) == entry_of(other)
    assert entry_of(SCATTER).is_of(other)
    assert not entry_of(SCATTER).is_of(Failure("assembler-error", "cubin", "out of registers"))


def test_a_long_message_is_cut() -> None:
    assert len(entry_of(Failure("mlir-error", "ttgir", "x y " * 100)).message) == 120


def test_a_missing_tool_is_never_known() -> None:
    missing = Failure("toolchain-error", "hsaco", "no ld.lld")

    assert not entry_of(missing).is_of(missing)


BROKEN = [
    ("", "is no baseline: it needs the line schema"),
    ("schema = 'portcheck-report/1'", "is no baseline: it needs the line schema"),
    ('{"schema": "portcheck-report/1"}', "is no baseline: "),
    (f"{HEAD}<<<<<<< ours\n", "if a merge left its marks, keep the lines of both"),
    (f'{HEAD}"a@b@c" = {ENTRY}\n"a@b@c" = {ENTRY}\n', "is no baseline: "),
    ('schema = "portcheck-baseline/1"\ncells = []', "cells is no table"),
    ('schema = "portcheck-baseline/1"\nother = 1', 'unknown key "other"'),
    (f'{HEAD}"axpy" = {ENTRY}', "is not written ROW@TARGET@RELEASE"),
    (f'{HEAD}"a@b@c" = "new"', "is no table of strings"),
    (f'{HEAD}"a@b@c" = {ENTRY.replace(chr(34) + "bad" + chr(34), "3")}', "is no table of strings"),
    (f'{HEAD}"a@b@c" = {{ fingerprint = "0123456789abcdef" }}', "needs fingerprint, verdict, stage, message"),
    (f'{HEAD}"a@b@c" = {ENTRY.replace("0123", "012")}', 'malformed fingerprint "012456789abcdef"'),
    (f'{HEAD}"a@b@c" = {ENTRY.replace("mlir", "milr")}', 'unknown verdict "milr-error"'),
    (f'{HEAD}"a@\\nb@c" = "x"', 'cell "a@ b@c": is no table'),
]


@pytest.mark.parametrize(("text", "said"), BROKEN, ids=[said for _, said in BROKEN])
def test_what_is_no_baseline_is_told_in_one_line(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "baseline.toml"
    path.write_text(text)

    with pytest.raises(UsageError) as caught:
        load(path)

    assert said in str(caught.value)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no such baseline: make it with portcheck baseline -o"):
        load(tmp_path / "none.toml")
    with pytest.raises(UsageError, match="cannot read the baseline: Is a directory"):
        load(tmp_path)
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="is no baseline"):
        load(tmp_path / "bytes")


def test_stale_is_what_the_manifest_has_no_row_or_target_for(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").touch()
    (tmp_path / "portcheck.toml").write_text("""
[defaults]
targets = ["cuda:90", "hip:gfx942"]
[[kernel]]
name = "k"
target = "kernels.py:k"
signature = {}
skip = ["hip:*"]
""")
    entry = entry_of(SCATTER)
    names = ("k@cuda:90@3.9.0", "k@cuda:90@3.8.0", "k@hip:gfx942@3.9.0", "gone@cuda:90@3.9.0", "k@cuda:75@3.9.0")

    found = stale(dict.fromkeys(names, entry), load_manifest(tmp_path / "portcheck.toml"), ["k@cuda:75@3.9.0"])

    assert found == ["gone@cuda:90@3.9.0", "k@hip:gfx942@3.9.0"]

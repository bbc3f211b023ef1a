"""Which zones of a remote a run reads and writes: what the manifest says, and what a CI job may narrow it to."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from portcheck.errors import UsageError
from portcheck.manifest.loader import load
from portcheck.storage import open_store

KEY = "0123456789abcdef" * 2
ROW = '[[kernel]]\nname = "k"\ntarget = "kernels.py:k"\ntargets = ["cuda:90"]\nsignature = {}\n'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with kernels, and a cache of its own for every store that is opened."""
    (tmp_path / "kernels.py").touch()
    monkeypatch.setenv("PORTCHECK_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("PORTCHECK_WRITE_ZONE", raising=False)
    return tmp_path


def written(folder: Path, settings: str = "") -> set[str]:
    """The zones that a record goes to."""
    (folder / "portcheck.toml").write_text(f'[cache]\nremote = "file://{folder}/shared"\n{settings}\n{ROW}')
    store = open_store(load(folder / "portcheck.toml"), None, print)
    store.put("front", KEY, b"preimage", {"answer": 1})
    return {path.relative_to(folder / "shared").parts[0] for path in folder.glob("shared/**/*") if path.is_file()}


@pytest.mark.parametrize(
    ("environ", "settings", "zones"),
    [
        ({}, "", {"main"}),
        ({"PORTCHECK_WRITE_ZONE": "pr"}, "", {"pr"}),
        ({"PORTCHECK_WRITE_ZONE": ""}, "", set()),
        ({"PORTCHECK_WRITE_ZONE": "pr"}, 'write = ""', set()),
        ({"PORTCHECK_WRITE_ZONE": "main"}, 'write = "nightly"', {"main"}),
    ],
)
def test_the_environment_narrows_what_is_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch, environ: Mapping[str, str], settings: str, zones: set[str]
) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)

    assert written(folder, settings) == zones


def test_the_zone_that_is_written_is_read_as_well(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORTCHECK_WRITE_ZONE", "pr")
    written(folder)
    manifest = load(folder / "portcheck.toml")

    monkeypatch.setenv("PORTCHECK_CACHE", str(folder / "another"))
    assert open_store(manifest, None, print).get("front", KEY, b"preimage") == {"answer": 1}

    monkeypatch.delenv("PORTCHECK_WRITE_ZONE")
    monkeypatch.setenv("PORTCHECK_CACHE", str(folder / "third"))
    assert open_store(manifest, None, print).get("front", KEY, b"preimage") is None


def test_a_malformed_zone_is_an_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORTCHECK_WRITE_ZONE", "../main")

    with pytest.raises(
        UsageError, match=r'^PORTCHECK_WRITE_ZONE: malformed zone "\.\./main": .*; empty: nothing is written$'
    ):
        written(folder)

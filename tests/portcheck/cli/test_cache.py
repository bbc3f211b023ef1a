"""The command: `portcheck cache stats|verify|gc|path`."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import pytest

from portcheck.cache import Store
from portcheck.cache.layout import place
from portcheck.cli import cache as command
from portcheck.errors import EnvironmentProblem, UsageError


def portcheck(*arguments: str) -> int:
    parser = argparse.ArgumentParser(prog="portcheck")
    command.add_parser(parser.add_subparsers())
    return command.run(parser.parse_args(arguments))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A cache directory that does not exist yet."""
    return tmp_path / "cache"


@pytest.fixture(autouse=True)
def environment(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORTCHECK_CACHE", str(root))


def test_path_prints_the_directory(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert portcheck("cache", "path") == 0

    assert capsys.readouterr().out == f"{root}\n"
    assert not root.exists()


def test_dir_is_preferred(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert portcheck("cache", "path", "--dir", str(tmp_path / "other")) == 0

    assert capsys.readouterr().out == f"{tmp_path / 'other'}\n"


def test_stats_are_a_table(store: Store, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store.put_blob(bytes(3 << 20))

    assert portcheck("cache", "stats") == 0

    assert capsys.readouterr().out.splitlines() == [
        f"cache {root}",
        "",
        "kind         files        size",
        "inputs           0         0 B",
        "configs          0         0 B",
        "front            0         0 B",
        "back             0         0 B",
        "local            0         0 B",
        "blob             1     3.0 MiB",
        "temporary        0         0 B",
        "total            1     3.0 MiB",
    ]


def test_verify_reports_damage_once(store: Store, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    digest = store.put_blob(b"x")
    Path(place(root, "blob", digest)).write_bytes(b"y")

    assert portcheck("cache", "verify") == EnvironmentProblem.status
    assert f"1/blob/{digest[:2]}/{digest}" in capsys.readouterr().out
    assert portcheck("cache", "verify") == 0


def test_gc_makes_room(store: Store, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = Path(place(root, "blob", store.put_blob(bytes(2048))))
    new = Path(place(root, "blob", store.put_blob(bytes(2049))))
    os.utime(old, (0, 0))

    assert portcheck("cache", "gc", "--max-size", "3KiB") == 0

    assert (old.exists(), new.exists()) == (False, True)
    out = capsys.readouterr().out
    assert "removed          1     2.0 KiB" in out
    assert "kept             1     2.0 KiB" in out


def test_gc_says_when_the_limit_is_too_small_for_one_run(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    store.put_blob(b"just written")

    portcheck("cache", "gc", "--max-size", "0")

    assert "a larger --max-size" in capsys.readouterr().out


def test_gc_takes_an_age_in_days(store: Store, root: Path) -> None:
    old = Path(place(root, "blob", store.put_blob(b"x")))
    os.utime(old, (0, 0))

    assert portcheck("cache", "gc", "--max-age", "0.5") == 0

    assert not old.exists()


@pytest.mark.parametrize(
    "arguments", [("--max-size", "many"), ("--max-age", "old"), ("--max-age=-1",), ("--max-age", "nan")]
)
def test_gc_refuses_what_is_no_limit(store: Store, root: Path, arguments: tuple[str, ...]) -> None:
    digest = store.put_blob(b"x")

    with pytest.raises(UsageError, match="malformed"):
        portcheck("cache", "gc", *arguments)

    assert store.get_blob(digest) == b"x"


@pytest.mark.parametrize("verb", ["stats", "verify", "gc", "path"])
def test_every_verb_has_help_with_an_example(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        portcheck("cache", verb, "--help")

    assert caught.value.code == 0
    assert "portcheck cache" in capsys.readouterr().out.partition("example:")[2]


@pytest.mark.parametrize("verb", ["stats", "verify", "gc"])
def test_what_is_no_cache_is_refused(verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(UsageError, match="there is no such folder"):
        portcheck("cache", verb, "--dir", str(tmp_path / "missing"))
    with pytest.raises(UsageError, match="is no cache"):
        portcheck("cache", verb, "--dir", str(tmp_path / "file"))

    def denied(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "scandir", denied)
    with pytest.raises(EnvironmentProblem, match="cannot be read: Permission denied"):
        portcheck("cache", verb, "--dir", str(tmp_path))


def test_a_cache_that_no_run_has_made_yet_is_empty(root: Path) -> None:
    assert [portcheck("cache", verb) for verb in ("stats", "verify", "gc")] == [0, 0, 0]
    assert not root.exists()

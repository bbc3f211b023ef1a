"""Which cache a manifest or the user means, and what is wrong with what they say of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from portcheck.errors import UsageError
from portcheck.manifest.loader import load
from portcheck.manifest.model import Manifest
from portcheck.storage import cache_dir, open_store, user_store


def manifest_with(folder: Path, cache: str) -> Manifest:
    """A manifest with this `[cache]`."""
    (folder / "portcheck.toml").write_text(f"[cache]\n{cache}\n")
    return load(folder / "portcheck.toml")


def test_what_is_chosen_wins_over_the_manifest_and_that_over_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PORTCHECK_CACHE", "/from/environment")
    manifest = manifest_with(tmp_path, 'dir = "mine"')

    assert cache_dir(manifest, "/chosen") == Path("/chosen")
    assert cache_dir(manifest) == tmp_path / "mine"
    assert cache_dir(manifest_with(tmp_path, "")) == Path("/from/environment")
    assert cache_dir(None) == Path("/from/environment")


@pytest.mark.parametrize(
    ("cache", "said"),
    [
        ('remote = "ftp://host/cache"', "unknown kind; write it like file://"),
        ('remote = "file://host/cache"', "a directory is written file:///its/absolute/path"),
        ('sign = "KEY"', "portcheck.toml: [cache]: sign: this release signs no records"),
    ],
)
def test_what_is_no_cache_is_the_user_s_mistake(tmp_path: Path, cache: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        open_store(manifest_with(tmp_path, cache), None, print)

    assert said in str(refused.value)


def test_a_user_without_a_home_is_told_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "PORTCHECK_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)

    with pytest.raises(UsageError, match="set PORTCHECK_CACHE"):
        user_store(print)

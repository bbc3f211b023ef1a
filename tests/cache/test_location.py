"""Where the cache is: the manifest, then PORTCHECK_CACHE, then the user's cache directory."""

from __future__ import annotations

from pathlib import Path

import pytest

from portcheck.cache import CacheError, resolve_cache_dir


@pytest.mark.parametrize(
    ("manifest", "environ", "expected"),
    [
        ("/m", {"PORTCHECK_CACHE": "/e", "XDG_CACHE_HOME": "/x", "HOME": "/h"}, "/m"),
        (None, {"PORTCHECK_CACHE": "/e", "XDG_CACHE_HOME": "/x", "HOME": "/h"}, "/e"),
        (None, {"XDG_CACHE_HOME": "/x", "HOME": "/h"}, "/x/portcheck"),
        (None, {"HOME": "/h"}, "/h/.cache/portcheck"),
        ("", {"PORTCHECK_CACHE": "", "XDG_CACHE_HOME": "", "HOME": "/h"}, "/h/.cache/portcheck"),
        (None, {"XDG_CACHE_HOME": "relative", "HOME": "/h"}, "/h/.cache/portcheck"),
        ("~/team", {"HOME": "/h"}, "/h/team"),
        (None, {"PORTCHECK_CACHE": "~/mine", "HOME": "/h"}, "/h/mine"),
        (None, {"PORTCHECK_CACHE": "here"}, "here"),
    ],
)
def test_the_first_that_is_given_wins(manifest: str | None, environ: dict[str, str], expected: str) -> None:
    assert resolve_cache_dir(manifest, environ) == Path(expected)


def test_without_a_home_the_remedy_is_told() -> None:
    with pytest.raises(CacheError, match="set PORTCHECK_CACHE"):
        resolve_cache_dir(None, {})

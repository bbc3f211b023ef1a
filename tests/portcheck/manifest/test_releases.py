"""Version specifiers of `xfail`."""

from __future__ import annotations

import pytest

from portcheck.errors import UsageError
from portcheck.manifest.releases import parse_release, parse_specifier, release_matches


@pytest.mark.parametrize(
    ("specifier", "release", "expected"),
    [
        ("<3.9", "3.8.0", True),
        ("<3.9", "3.9.0", False),
        ("<3.9", "3.10.0", False),
        ("<=3.9", "3.9.0", True),
        ("<=3.9", "3.9.1", False),
        (">3.8", "3.8.1", True),
        (">= 3.5 , <3.9", "3.5.0", True),
        (">=3.5,<3.9", "3.4.9", False),
        ("==3.8.0", "3.8.0", True),
        ("==3.8", "3.8.0", True),
        ("==3.8", "3.8.1", False),
        ("!=3.8.0", "3.8.1", True),
        # a pre-release is its release, unless the specifier asks for pre-releases
        ("<3.9", "3.9.0rc1", False),
        (">=3.9", "3.9.0rc1", True),
        ("==3.9.0", "3.9.0.dev20260101", True),
        ("<3.9.0rc2", "3.9.0rc1", True),
        (">3.9.0.dev1", "3.9.0a1", True),
        (">3.9.0rc1", "3.9.0", True),
        ("<3.9.0.post1", "3.9.0", True),
        # a local suffix never counts
        ("==3.9.0", "3.9.0+git1a2b3c", True),
        (">3.9.0", "3.9.0+git1a2b3c", False),
    ],
)
def test_specifiers(specifier: str, release: str, expected: bool) -> None:
    assert release_matches(specifier, release) is expected


@pytest.mark.parametrize("specifier", ["", "3.9", "<", "~=3.9", "<3.9,", "=3.9", "<3.x", "< 3.9 3.8", "<3.9;"])
def test_malformed_specifiers(specifier: str) -> None:
    with pytest.raises(UsageError, match="write "):
        parse_specifier(specifier)


@pytest.mark.parametrize("release", ["current", "3.8.0", "3.10.0rc1", "3.9.0+git1a", "envs/a", "/x/y.whl", "t.whl"])
def test_releases(release: str) -> None:
    assert parse_release(release) == release

"""Which directory the cache is in."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from portcheck.cache.errors import CacheError


def resolve_cache_dir(manifest_dir: str | None, environ: Mapping[str, str]) -> Path:
    """The cache directory: `manifest_dir`, else PORTCHECK_CACHE, else `portcheck` in the user's cache directory.

    Args:
        manifest_dir: `[cache] dir` of the manifest, made absolute by whoever knows the manifest's folder.
        environ: the environment; an empty value counts as unset.

    Raises:
        CacheError: nothing says where it could be.
    """
    home = environ.get("HOME")
    chosen = manifest_dir or environ.get("PORTCHECK_CACHE")
    if chosen:
        return Path(home, chosen[2:]) if home and chosen.startswith("~/") else Path(chosen)
    base = environ.get("XDG_CACHE_HOME", "")
    if Path(base).is_absolute():  # the XDG specification: a relative value is ignored
        return Path(base, "portcheck")
    if home:
        return Path(home, ".cache", "portcheck")
    raise CacheError("no place for the cache: HOME is not set; set PORTCHECK_CACHE to a folder")

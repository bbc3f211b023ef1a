"""Where the cache of a manifest is: the local directory, and the remote behind it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from portcheck.cache import Store, Zones, remote_at, resolve_cache_dir
from portcheck.errors import UsageError
from portcheck.manifest.model import Manifest


def open_store(manifest: Manifest, remote: str | None, warn: Callable[[str], None]) -> Store:
    """The store that a manifest leads to. `remote`: a URL that replaces the manifest's; `warn` gets lines for the user.

    Raises:
        UsageError: nothing says where the cache could be, or the remote's URL is malformed.
    """
    settings = manifest.cache
    if settings.sign:
        raise UsageError(f"{manifest.path.name}: [cache]: sign: this release signs no records: take it out")
    url = remote or settings.remote
    zones = None
    if url:
        read = tuple(remote_at(url, zone) for zone in settings.read)
        zones = Zones(read, remote_at(url, settings.write) if settings.write else None, warn)
    return Store(cache_dir(manifest), warn=warn, remote=zones)


def cache_dir(manifest: Manifest) -> Path:
    """The cache directory that a manifest leads to.

    Raises:
        UsageError: nothing says where it could be.
    """
    given = manifest.cache.dir
    inside = str(manifest.folder / given) if given and not given.startswith("~") else given
    return resolve_cache_dir(inside, os.environ)

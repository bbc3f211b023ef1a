"""Where the cache of a manifest is: the local directory, and the remote behind it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from portcheck.cache import Store, Zones, remote_at, resolve_cache_dir
from portcheck.errors import UsageError
from portcheck.manifest.model import CacheSettings, Manifest
from portcheck.manifest.settings import write_zone

WRITE_ZONE = "PORTCHECK_WRITE_ZONE"


def open_store(manifest: Manifest, remote: str | None, warn: Callable[[str], None]) -> Store:
    """The store that a manifest leads to. `remote`: a URL that replaces the manifest's; `warn` gets lines for the user.

    Raises:
        UsageError: nothing says where the cache could be, or the remote's URL or PORTCHECK_WRITE_ZONE is malformed.
    """
    settings = manifest.cache
    if settings.sign:
        raise UsageError(f"{manifest.path.name}: [cache]: sign: this release signs no records: take it out")
    url = remote or settings.remote
    zones = None
    if url:
        read, write = _zones(settings, os.environ)
        zones = Zones(tuple(remote_at(url, zone) for zone in read), remote_at(url, write) if write else None, warn)
    return Store(cache_dir(manifest), warn=warn, remote=zones)


def cache_dir(manifest: Manifest) -> Path:
    """The cache directory that a manifest leads to.

    Raises:
        UsageError: nothing says where it could be.
    """
    given = manifest.cache.dir
    inside = str(manifest.folder / given) if given and not given.startswith("~") else given
    return resolve_cache_dir(inside, os.environ)


def _zones(settings: CacheSettings, environ: Mapping[str, str]) -> tuple[tuple[str, ...], str]:
    """The zones that are read, and the one that is written, or "".

    PORTCHECK_WRITE_ZONE is how a CI job that must not write to the manifest's zone writes to another one, which it then
    reads, too, or to none. It takes nothing from a manifest that says `write = ""`.
    """
    given = environ.get(WRITE_ZONE)
    if given is None or not settings.write:
        return settings.read, settings.write
    try:
        write = write_zone(given)
    except UsageError as error:
        raise UsageError(f"{WRITE_ZONE}: {error}; empty: nothing is written") from None
    return tuple(dict.fromkeys((*([write] if write else []), *settings.read))), write

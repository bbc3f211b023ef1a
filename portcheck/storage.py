"""Where the cache is that a manifest or the user means: the local directory, and the remote behind it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from portcheck.cache import CacheError, Store, Zones, remote_at, resolve_cache_dir
from portcheck.errors import UsageError
from portcheck.manifest.model import CacheSettings, Manifest
from portcheck.manifest.settings import write_zone

WRITE_ZONE = "PORTCHECK_WRITE_ZONE"


@contextlib.contextmanager
def _user_s_mistake() -> Iterator[None]:
    try:
        yield
    except CacheError as error:
        raise UsageError(str(error)) from None


@_user_s_mistake()
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


def user_store(warn: Callable[[str], None]) -> Store:
    """The store of whoever has no manifest. `warn` gets lines for the user.

    Raises:
        UsageError: nothing says where the cache could be.
    """
    return Store(cache_dir(None), warn=warn)


@_user_s_mistake()
def cache_dir(manifest: Manifest | None, chosen: str | None = None) -> Path:
    """The cache directory: `chosen`, if anything is, else the one that a manifest leads to, else the user's.

    Raises:
        UsageError: nothing says where it could be.
    """
    given = manifest.cache.dir if manifest else None
    inside = str(manifest.folder / given) if manifest and given and not given.startswith("~") else given
    inside = chosen or inside
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

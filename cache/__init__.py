"""The content-addressed store of records and artifacts. Knows no Triton and no doit."""

from portcheck.cache.artifacts import pack, unpack
from portcheck.cache.errors import CacheError
from portcheck.cache.gc import Collected, collect, collect_if_due
from portcheck.cache.location import resolve_cache_dir
from portcheck.cache.remotes import remote_at
from portcheck.cache.stats import Usage, stats
from portcheck.cache.store import Store
from portcheck.cache.verify import Verified, verify
from portcheck.cache.zones import Zones

__all__ = [
    "CacheError",
    "Collected",
    "Store",
    "Usage",
    "Verified",
    "Zones",
    "collect",
    "collect_if_due",
    "pack",
    "remote_at",
    "resolve_cache_dir",
    "stats",
    "unpack",
    "verify",
]

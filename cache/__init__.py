"""The content-addressed store of records and artifacts. Knows no Triton and no doit."""

from portcheck.cache.artifacts import pack, unpack
from portcheck.cache.gc import Collected, collect
from portcheck.cache.location import resolve_cache_dir
from portcheck.cache.stats import Usage, stats
from portcheck.cache.store import Store
from portcheck.cache.verify import Verified, verify

__all__ = [
    "Collected",
    "Store",
    "Usage",
    "Verified",
    "collect",
    "pack",
    "resolve_cache_dir",
    "stats",
    "unpack",
    "verify",
]

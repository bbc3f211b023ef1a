"""Scratch folders: one a service, named so that the next run can remove those of runs that were killed."""

from __future__ import annotations

import contextlib
import os
import platform
import re
import secrets
import shutil
import tempfile
from functools import cache
from pathlib import Path

import psutil
import xxhash

_NAME = re.compile(r"portcheck-(?P<pid>[0-9]+)-(?P<world>[0-9a-f]{8})-")


def make() -> Path:
    """A new scratch folder, after removing this user's folders of processes that are gone."""
    _sweep(Path(tempfile.gettempdir()))
    return Path(tempfile.mkdtemp(prefix=f"portcheck-{os.getpid()}-{_world()}-"))


def holding(path: Path) -> Path | None:
    """The scratch folder that `path` is in, if it is in one."""
    return next((above for above in path.parents if _NAME.match(above.name)), None)


def _sweep(folder: Path) -> None:
    with contextlib.suppress(OSError), os.scandir(folder) as items:
        for item in items:
            match = _NAME.match(item.name)
            if not match or match["world"] != _world() or psutil.pid_exists(int(match["pid"])):
                continue
            with contextlib.suppress(OSError):
                if item.is_dir(follow_symlinks=False) and item.stat(follow_symlinks=False).st_uid == os.getuid():
                    shutil.rmtree(item.path, ignore_errors=True)


@cache
def _world() -> str:
    """Where a pid means the same: other machines and containers may share the folder, and their processes live on."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
        space = str(Path("/proc/self/ns/pid").readlink())
    except OSError:  # a sandbox that hides them: nobody else's folder is taken for ours
        boot, space = platform.node(), secrets.token_hex(8)
    return xxhash.xxh32_hexdigest(f"{boot}{space}".encode())

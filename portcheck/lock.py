"""The lock file: what keys need to know of Triton and of other installed distributions, for machines without them.

`portcheck.lock` lies beside the manifest and belongs into version control. It holds one section a platform, since
wheels differ between them:

    {"schema": "portcheck-lock/1",
     "platforms": {"linux-x86_64-cp311": {
        "current": "3.9.0",                               the release of the interpreter that wrote it
        "toolchains": {"3.9.0": {"digest": DIGEST, "installed": DIGEST}},  the latter of all names and versions
        "distributions": {"torch": {"version": "2.13.0", "digest": DIGEST, "imported": true, "paths": ["torch", …]}},
        "modules": {"torch": "dist/torch/__init__.py"}}}}                  where top-level modules were found
"""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from portcheck.errors import EnvironmentProblem, UsageError
from portcheck.installed import Distribution, StandIn, StandIns
from portcheck.report.output import write_file
from portcheck.toolchain.model import Toolchain

SCHEMA = "portcheck-lock/1"
FILE = "portcheck.lock"
AGAIN = "write it anew with: portcheck lock"


@dataclass(frozen=True, slots=True)
class LockedToolchain:
    """What a lock says of one release."""

    digest: str
    installed: str  # digest of all names and versions, since an open kernel may depend on any


@dataclass(frozen=True, slots=True)
class Locked:
    """What a lock says of one platform."""

    current: str | None = None
    toolchains: Mapping[str, LockedToolchain] = field(default_factory=dict)  # by release
    known: StandIns = field(default_factory=StandIns)


NOTHING = Locked()


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock file."""

    platforms: Mapping[str, Locked] = field(default_factory=dict)

    @property
    def here(self) -> Locked:
        """What it says of this platform; empty if it does not."""
        return self.platforms.get(platform_name(), NOTHING)

    def with_here(self, locked: Locked) -> Lock:
        """The same lock with another section for this platform."""
        return replace(self, platforms={**self.platforms, platform_name(): locked})


def platform_name() -> str:
    """The platform that a section is for: system, machine and Python, as `linux-x86_64-cp311`."""
    return f"{sys.platform}-{platform.machine()}-cp{sys.version_info.major}{sys.version_info.minor}"


def read_lock(folder: Path) -> Lock:
    """The lock beside the manifest in `folder`; an empty one if there is none.

    Raises:
        UsageError: it cannot be read, or is no lock.
    """
    path = folder / FILE
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Lock()
    except (OSError, ValueError) as error:
        raise UsageError(f"{FILE}: cannot be read: {error}; {AGAIN}") from None
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise UsageError(f"{FILE}: its schema is not {SCHEMA}; {AGAIN}")
    try:
        return Lock({_text(name): _read_section(section) for name, section in data["platforms"].items()})
    except (KeyError, TypeError, AttributeError, ValueError):
        raise UsageError(f"{FILE}: something is missing in it or of a wrong type; {AGAIN}") from None


def write_lock(folder: Path, lock: Lock) -> Path:
    """Write a lock beside the manifest in `folder`; returns where.

    Raises:
        UsageError: it cannot be written.
    """
    path = folder / FILE
    sections = {name: _section(locked) for name, locked in sorted(lock.platforms.items())}
    write_file(path, [json.dumps({"schema": SCHEMA, "platforms": sections}, indent=2), "\n"])
    return path


def check_lock(locked: Locked, digests: Mapping[str, str], found: Callable[[str], Distribution | None]) -> None:
    """Compare a lock with what is installed: toolchains (release → digest) and distributions.

    Raises:
        EnvironmentProblem: they differ; a line for each difference, with the remedy.
    """
    differences = [
        f"{FILE}: Triton {release} is installed here with other contents: install it anew, or {AGAIN}"
        for release, digest in digests.items()
        if release in locked.toolchains and locked.toolchains[release].digest != digest
    ]
    for one in locked.known.distributions:
        if not one.imported:
            continue  # it only widens keys
        wanted, there = one.distribution, found(one.distribution.name)
        if there and there.version != wanted.version:
            differences.append(
                f"{FILE}: {there.name} {there.version} is installed here, and the lock has {wanted.version}: "
                f"install that with: {_install(wanted)}; or {AGAIN}"
            )
        elif there and there.identity != wanted.identity:
            differences.append(
                f"{FILE}: {there.name} {there.version} is installed here with other contents: "
                f"{_install(wanted)} --force-reinstall; or {AGAIN}"
            )
    if differences:
        raise EnvironmentProblem("\n".join(differences))


def missing(
    known: StandIns, found: Callable[[str], Distribution | None], toolchain: Toolchain, current: str | None
) -> str | None:
    """The commands that install what compiling with a toolchain needs and is only known of; None if all is there."""
    wanted = [one.distribution for one in known.distributions if one.imported and not found(one.distribution.name)]
    packages = [f"{one.name}=={one.version}" for one in wanted]
    absent = toolchain.package is None
    if absent and toolchain.release == current:
        packages.insert(0, f"triton=={current}")
    commands = [f"{sys.executable} -m pip install {' '.join(packages)}"] if packages else []
    if absent and toolchain.release != current:
        commands.append(f"portcheck env add {toolchain.release}")
    return " and ".join(commands) or None


def _install(wanted: Distribution) -> str:
    return f"{sys.executable} -m pip install {wanted.name}=={wanted.version}"


def _section(locked: Locked) -> dict[str, Any]:
    return {
        "current": locked.current,
        "toolchains": {release: asdict(one) for release, one in sorted(locked.toolchains.items())},
        "distributions": {
            one.distribution.name: {
                "version": one.distribution.version,
                "digest": one.distribution.identity,
                "imported": one.imported,
                "paths": list(one.paths),
            }
            for one in sorted(locked.known.distributions, key=lambda one: one.distribution.name)
        },
        "modules": dict(sorted(locked.known.modules.items())),
    }


def _read_section(section: Mapping[str, Any]) -> Locked:
    distributions = tuple(
        StandIn(
            Distribution(name, _text(one["version"]), _text(one["digest"])),
            tuple(map(_text, one["paths"])),
            bool(one["imported"]),
        )
        for name, one in section["distributions"].items()
    )
    return Locked(
        current=None if section["current"] is None else _text(section["current"]),
        toolchains={
            release: LockedToolchain(_text(one["digest"]), _text(one["installed"]))
            for release, one in section["toolchains"].items()
        },
        known=StandIns(distributions, {name: _text(place) for name, place in section["modules"].items()}),
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value

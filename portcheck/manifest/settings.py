"""The settings: what `[defaults]` and every kernel may give, and the `[cache]` table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from portcheck.errors import UsageError
from portcheck.manifest.mistakes import Parser
from portcheck.manifest.model import Settings
from portcheck.manifest.references import parse_function
from portcheck.manifest.releases import parse_release
from portcheck.manifest.scalars import array, boolean, choice, distinct, label, mapping, seconds, size, text
from portcheck.patterns import suggestion
from portcheck.target import Target, parse_target

CONFIGS = ("first", "extremes", "all")
ZONE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


def merge_settings(base: Settings, given: Mapping[str, Any]) -> Settings:
    """`base` with what a table gives: `env` merges name by name, everything else replaces."""
    own = {key: value for key, value in given.items() if key in SETTINGS}
    return replace(base, **{**own, "env": {**base.env, **own.get("env", {})}})


def _target(value: Any) -> Target:
    return parse_target(text(value))


def _releases(value: Any) -> tuple[str, ...]:
    parsed = distinct(array(parse_release, "releases"))(value)
    if not parsed:
        raise UsageError('must not be empty: write for example ["current"]')
    return parsed


def _configs(value: Any) -> str:
    written = text(value)
    if written not in CONFIGS and not re.fullmatch(r"sample:[1-9][0-9]*", written):
        raise UsageError(f'expected first, extremes, all or sample:N, got "{written}"{suggestion(written, CONFIGS)}')
    return written


def _environment(value: Any) -> dict[str, str]:
    given = mapping(text)(value)
    for name, setting in given.items():
        if not name or "=" in name or "\0" in name + setting:
            raise UsageError(f'"{name}" cannot be a variable: names have no "=", and neither they nor values a NUL')
    return given


def _zone(value: Any) -> str:
    if not ZONE.fullmatch(text(value)):
        raise UsageError(f'malformed zone "{value}": a zone is named with letters, digits, ".", "_" and "-"')
    return str(value)


def write_zone(value: Any) -> str:
    """A zone to write to; empty: none.

    Raises:
        UsageError: it is malformed.
    """
    return "" if value == "" else _zone(value)


SETTINGS: Mapping[str, Parser[Any]] = {
    "targets": distinct(array(_target, "targets")),
    "triton": _releases,
    "timeout": seconds,
    "max_rss": size,
    "launch_limits": choice("fail", "warn", "off"),
    "xfail_strict": boolean,
    "autotune": choice("any", "all"),
    "configs": _configs,
    "env": _environment,
    "setup": parse_function,
}

CACHE: Mapping[str, Parser[Any]] = {
    "dir": label,
    "remote": label,
    "read": distinct(array(_zone, "zones")),
    "write": write_zone,
    "salt": text,
    "sign": label,
    "max_size": size,
}

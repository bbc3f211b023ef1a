"""The lock file: written, read, and compared with what is installed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from portcheck.errors import EnvironmentProblem, UsageError
from portcheck.installed import Distribution, StandIn, StandIns
from portcheck.lock import (
    FILE,
    NOTHING,
    Lock,
    Locked,
    LockedToolchain,
    check_lock,
    missing,
    platform_name,
    read_lock,
    write_lock,
)
from portcheck.toolchain.model import Toolchain

INSTALLED = Toolchain("3.9.0", "3.11.7", "t9", "python", Path("triton"))
TORCH = Distribution("torch", "2.13.0", "d1")
LOCKED = Locked(
    current="3.9.0",
    toolchains={"3.8.0": LockedToolchain("t8", "i8"), "3.9.0": LockedToolchain("t9", "i9")},
    known=StandIns((StandIn(TORCH, ("torch", "torchgen"), True),), {"torch": "dist/torch/__init__.py"}),
)


def test_a_lock_is_read_as_it_was_written(tmp_path: Path) -> None:
    lock = Lock({"another": NOTHING}).with_here(LOCKED)

    assert write_lock(tmp_path, lock) == tmp_path / FILE
    assert read_lock(tmp_path) == lock
    assert read_lock(tmp_path).here == LOCKED


def test_a_section_for_another_platform_says_nothing_here(tmp_path: Path) -> None:
    write_lock(tmp_path, Lock({"another": LOCKED}))

    assert read_lock(tmp_path).here == NOTHING


def test_no_lock_says_nothing(tmp_path: Path) -> None:
    assert read_lock(tmp_path).here == NOTHING


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"schema": "portcheck-lock/2", "platforms": {}}',
        '{"schema": "portcheck-lock/1"}',
        '{"schema": "portcheck-lock/1", "platforms": []}',
        '{"schema": "portcheck-lock/1", "platforms": {"p": {}}}',
        '{"schema": "portcheck-lock/1", "platforms": {"p": null}}',
    ],
)
def test_what_is_no_lock_is_an_error_with_the_remedy(tmp_path: Path, content: str) -> None:
    (tmp_path / FILE).write_text(content)

    with pytest.raises(UsageError, match=r"portcheck\.lock: .*; write it anew with: portcheck lock$"):
        read_lock(tmp_path)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("current", 3.9),
        ("toolchains", ["3.9.0"]),
        ("toolchains", {"3.9.0": None}),
        ("toolchains", {"3.9.0": {"digest": "t9"}}),
        ("distributions", {"torch": "2.13.0"}),
        ("distributions", {"torch": {"version": "2.13.0", "digest": "d1"}}),
        ("distributions", {"torch": {"version": "2.13.0", "digest": "d1", "paths": [1]}}),
        ("modules", {"torch": 1}),
    ],
)
def test_a_value_of_the_wrong_type_is_an_error(tmp_path: Path, key: str, value: Any) -> None:
    path = write_lock(tmp_path, Lock().with_here(LOCKED))
    data = json.loads(path.read_text())
    data["platforms"][platform_name()][key] = value
    path.write_text(json.dumps(data))

    with pytest.raises(UsageError, match="of a wrong type"):
        read_lock(tmp_path)


def test_a_lock_that_agrees_is_fine() -> None:
    check_lock(LOCKED, {"3.9.0": "t9", "3.7.1": "not locked"}, {"torch": TORCH}.get)


def test_what_is_not_installed_disagrees_with_nothing() -> None:
    check_lock(LOCKED, {}, {}.get)


def test_what_is_missing_is_told_as_commands() -> None:
    torch, nothing = {"torch": TORCH}.get, dict[str, Distribution]().get
    locked = replace(INSTALLED, package=None)

    assert missing(LOCKED.known, torch, INSTALLED, "3.9.0") is None
    told = missing(LOCKED.known, nothing, INSTALLED, "3.9.0")
    assert told and told.endswith(" -m pip install torch==2.13.0")
    told = missing(LOCKED.known, nothing, locked, "3.9.0")
    assert told and told.endswith(" -m pip install triton==3.9.0 torch==2.13.0")
    assert missing(LOCKED.known, torch, replace(locked, release="3.8.0"), "3.9.0") == "portcheck env add 3.8.0"


def test_of_a_distribution_that_is_not_imported_any_version_will_do() -> None:
    known = StandIns((StandIn(TORCH, ("torch",), False),))

    check_lock(Locked(known=known), {}, {"torch": Distribution("torch", "2.12.0", "d0")}.get)

    assert missing(known, {}.get, INSTALLED, "3.9.0") is None


@pytest.mark.parametrize(
    ("digests", "there", "told"),
    [
        ({"3.9.0": "patched"}, TORCH, r"Triton 3\.9\.0 is installed here with other contents"),
        ({}, Distribution("torch", "2.12.0", "d0"), r"torch 2\.12\.0 is installed here, and the lock has 2\.13\.0"),
        ({}, Distribution("torch", "2.13.0", "patched"), r"torch 2\.13\.0 is installed here with other contents"),
    ],
)
def test_a_lock_that_disagrees_is_an_error_with_the_remedy(
    digests: dict[str, str], there: Distribution, told: str
) -> None:
    with pytest.raises(EnvironmentProblem, match=told + ".*portcheck lock"):
        check_lock(LOCKED, digests, {"torch": there}.get)

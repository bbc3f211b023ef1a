"""Targets and patterns over them."""

from __future__ import annotations

import pytest

from portcheck.errors import UsageError
from portcheck.target import Target, check_pattern, parse_target


@pytest.mark.parametrize("written", ["cuda:75", "cuda:88", "cuda:120", "hip:gfx942", "hip:gfx90a", "hip:gfx1250"])
def test_a_well_formed_target_is_read_whether_or_not_a_compiler_knows_it(written: str) -> None:
    assert str(parse_target(written)) == written


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("cdua:90", r'unknown target "cdua:90" \(did you mean cuda\?\)'),
        ("90", 'unknown target "90": a target is written BACKEND:ARCH'),
        ("", 'unknown target ""'),
        ("cuda", 'malformed target "cuda": write it like cuda:90'),
        ("cuda:", "malformed target"),
        ("cuda:90a", "malformed target"),
        ("cuda:090", "malformed target"),
        ("cuda:9٠", "malformed target"),
        ("hip:942", 'malformed target "hip:942": write it like hip:gfx942'),
        ("cuda:90 ", "malformed target"),
    ],
)
def test_malformed_targets(written: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_target(written)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("sm_90", "cuda:90"),
        ("sm_100a", "cuda:100"),
        ("cuda:sm_80", "cuda:80"),
        ("gfx942", "hip:gfx942"),
        ("rocm:gfx90a", "hip:gfx90a"),
        ("gfx942:sramecc+:xnack-", "hip:gfx942"),
    ],
)
def test_targets_as_other_tools_write_them(written: str, meant: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_target(written)

    assert str(caught.value) == f'unknown target "{written}": write {meant}'


@pytest.mark.parametrize("pattern", ["*", "?uda:90", "cuda:*", "cu*", "hip:gfx9*", "hip*", "*:gfx11*", "cuda:90"])
def test_patterns_that_a_target_can_match(pattern: str) -> None:
    assert check_pattern(pattern) == pattern


@pytest.mark.parametrize("pattern", ["nv*", "hpi:*", "cuda-*", "cuda:9", "gfx942"])
def test_patterns_that_no_target_can_match(pattern: str) -> None:
    with pytest.raises(UsageError, match="target"):
        check_pattern(pattern)


@pytest.mark.parametrize(("target", "threads"), [("cuda:90", 32), ("hip:gfx942", 64), ("hip:gfx1100", 32)])
def test_warp_sizes(target: str, threads: int) -> None:
    assert parse_target(target).warp_size == threads


def test_matching_a_target() -> None:
    assert Target("hip", "gfx942").matches("hip:gfx9*")
    assert not Target("hip", "gfx942").matches("cuda:*")

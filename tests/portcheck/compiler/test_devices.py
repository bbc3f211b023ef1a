"""The devices that are pretended to be there."""

from __future__ import annotations

import pytest

from portcheck.compiler.devices import properties
from portcheck.target import parse_target


@pytest.mark.parametrize(
    ("target", "capability"),
    [
        ("cuda:75", [7, 5]),
        ("cuda:90", [9, 0]),
        ("cuda:100", [10, 0]),
        ("cuda:121", [12, 1]),
        ("hip:gfx90a", [9, 0]),
        ("hip:gfx942", [9, 4]),
        ("hip:gfx1100", [11, 0]),
        ("hip:gfx1250", [12, 5]),
    ],
)
def test_capabilities_are_what_torch_reports(target: str, capability: list[int]) -> None:
    assert properties(parse_target(target))["capability"] == capability


@pytest.mark.parametrize(("target", "like"), [("cuda:999", "cuda:121"), ("cuda:20", "cuda:50"), ("cuda:88", "cuda:87")])
def test_an_unknown_architecture_has_the_figures_of_the_nearest_older_one(target: str, like: str) -> None:
    unknown, known = properties(parse_target(target)), properties(parse_target(like))

    assert unknown["shared_memory"] == known["shared_memory"]
    assert unknown["name"] != known["name"]
    assert unknown["capability"] != known["capability"]


def test_an_unknown_amd_architecture_is_answered_for() -> None:
    assert properties(parse_target("hip:gfx9999"))["name"] == "AMD gfx9999"

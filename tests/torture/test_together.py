"""Several tools at once in one cold cache: each has every verdict right."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.conftest import Project, Ran

Sound = Callable[["Ran"], None]


def test_tools_that_fill_one_cache_together_agree(
    small: Project, sound: Sound, times: Callable[[int, int], int]
) -> None:
    tools = [small.start("check", "-j2") for _ in range(times(8, 2))]
    told = [(*tool.communicate(timeout=300), tool.returncode) for tool in tools]

    matrices = {"\n".join(line for line in out.splitlines() if "@" in line or "axpy" in line) for out, _, _ in told}
    assert len(matrices) == 1
    assert {status for _, _, status in told} == {1}
    assert not [err for _, err, _ in told if "Traceback" in err or "internal error" in err]
    ran = small.check()
    sound(ran)
    assert set(ran.origins.values()) == {"cached"}

"""Several tools at once in one cold cache: each has every verdict right."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.conftest import Project, Ran

Sound = Callable[["Ran"], None]


def test_tools_that_fill_one_cache_together_agree(
    small: Project, sound: Sound, times: Callable[[int, int], int]
) -> None:
    reports = [small.folder / f"report{n}.json" for n in range(times(8, 2))]
    tools = [small.start("check", "-j2", "--json", str(report)) for report in reports]
    told = [(*tool.communicate(timeout=300), tool.returncode) for tool in tools]

    assert {status for _, _, status in told} == {1}
    assert not [err for _, err, _ in told if "Traceback" in err or "internal error" in err]
    ran = small.check()
    sound(ran)
    assert set(ran.origins.values()) == {"cached"}
    for report in reports:
        cells = json.loads(report.read_text())["cells"]
        assert {c["cell"].rpartition("@")[0]: (c["verdict"], c["stage"]) for c in cells} == ran.verdicts

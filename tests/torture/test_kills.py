"""kill -9 of the tool at any moment: the next run is right, and nothing is left."""

from __future__ import annotations

import random
import shutil
import time
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.conftest import Project, Ran

Sound = Callable[["Ran"], None]


def test_a_tool_killed_at_any_moment_never_spoils_the_next_run(
    small: Project, sound: Sound, times: Callable[[int, int], int]
) -> None:
    dice = random.Random(1)
    began = time.monotonic()
    sound(small.check())
    cold = time.monotonic() - began
    seen: Counter[str] = Counter()
    while seen["killed"] < times(200, 3):
        is_warm = dice.random() < 0.25
        if not is_warm:
            shutil.rmtree(small.cache)
        with small.start("check", "-j2") as process:
            time.sleep(dice.uniform(0, 0.4 if is_warm else cold))
            process.kill()
            process.communicate()
        seen["killed" if process.returncode == -9 else "came too late"] += 1

        assert small.left_behind() == []
        ran = small.check()
        sound(ran)
        seen.update(ran.origins.values())
    print(f"\nkills: {dict(seen)}; verdicts of the runs after them by origin; none wrong, nothing left behind")

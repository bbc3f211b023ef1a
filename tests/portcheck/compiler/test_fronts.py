"""A front end that cells share, with the real Triton: run once, and only by those for whom it makes the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from portcheck.compiler.attempt import Attempt
from portcheck.compiler.job import Job, Unit
from portcheck.compiler.service import Service
from portcheck.target import Target

Write = Callable[[str, str], str]

CUDA = Target("cuda", "90")
COUNTED = """
import triton
import triton.language as tl
from triton.language.extra import cuda

@triton.constexpr_function
def counted(block):
    with open({log!r}, "a") as log:
        log.write("front end\\n")
    with open({data!r}) as data:
        return data.read() == "1"

@triton.jit
def plain(x, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    if counted(BLOCK):
        tl.static_print("seen")
        tl.store(x + at, tl.load(x + at) * 2)

@triton.jit
def by_warps(x, BLOCK: tl.constexpr):
    counted(BLOCK)
    tl.store(x + tl.arange(0, BLOCK), cuda.num_warps())

@triton.jit
def wrong(x, BLOCK: tl.constexpr):
    counted(BLOCK)
    tl.store(x, tl.arange(0, 3))

@triton.jit
def dying(x, BLOCK: tl.constexpr):
    if counted(BLOCK):
        ended(BLOCK)

@triton.constexpr_function
def ended(block):
    import os
    os._exit(3)
"""
POINTER = {"x": {"type": "*fp32", "divisible": True, "large": False}}


@pytest.fixture
def unit(write: Write, folder: Path, request: pytest.FixtureRequest) -> Unit:
    log, data = folder / f"{request.node.name}.log", folder / f"{request.node.name}.txt"
    log.touch()
    data.write_text("1")
    text = COUNTED.format(log=str(log), data=str(data))
    return Unit(write(f"{request.node.name}.py", text), True, ("plain",))


def job(unit: Unit, function: str, block: int = 64, **options: int) -> Job:
    spec = {"signature": POINTER, "constants": {"BLOCK": block}, "options": options}
    return Job(unit, function, spec, CUDA, timeout=60, max_rss=4 << 30)


def compiled(service: Service, jobs: list[Job], *, shared: bool = True) -> list[Attempt]:
    """Compile jobs, those after the first in what the front end of the first left."""
    attempts = []
    if not shared:
        return [attempt for one in jobs if isinstance(attempt := service.compile(one), Attempt)]
    with service.shared_front(jobs[0]) as front:
        assert front is not None
        for one in jobs:
            attempt = service.compile(one, go_on, front)
            assert isinstance(attempt, Attempt)
            attempts.append(attempt)
    return attempts


def go_on(front: Mapping[str, Any]) -> bool:
    return True


def runs(folder: Path, request: pytest.FixtureRequest) -> int:
    return len((folder / f"{request.node.name}.log").read_text().splitlines())


def test_options_that_the_front_end_does_not_read_share_it(
    service: Service, unit: Unit, folder: Path, request: pytest.FixtureRequest
) -> None:
    jobs = [job(unit, "plain", num_warps=warps, num_stages=stages) for warps in (1, 2, 8) for stages in (1, 3)]

    shared = compiled(service, jobs)

    assert runs(folder, request) == 1
    alone = compiled(service, jobs, shared=False)
    assert runs(folder, request) == 1 + len(jobs)
    assert [one.files for one in shared] == [one.files for one in alone]
    assert len({one.files["cubin"] for one in shared}) >= 3  # as many as there are numbers of warps
    assert [one.out.partition("\n")[0] for one in (*shared, *alone)] == ["seen"] * 12  # ptxas tells times below


def test_every_cell_has_read_what_the_shared_front_end_read(service: Service, unit: Unit, folder: Path) -> None:
    shared = compiled(service, [job(unit, "plain", num_warps=warps) for warps in (1, 2)])

    (data,) = folder.glob("test_every_cell*.txt")
    assert all(("file", str(data)) in one.read for one in shared)


def test_an_option_that_the_front_end_reads_is_not_shared(
    service: Service, unit: Unit, folder: Path, request: pytest.FixtureRequest
) -> None:
    jobs = [job(unit, "by_warps", num_warps=warps, num_stages=stages) for warps in (2, 4) for stages in (1, 3)]

    shared = compiled(service, jobs)

    assert runs(folder, request) == 1 + 2  # those with four warps run their own
    assert [one.files for one in shared] == [one.files for one in compiled(service, jobs, shared=False)]


def test_another_constant_is_not_shared(
    service: Service, unit: Unit, folder: Path, request: pytest.FixtureRequest
) -> None:
    jobs = [job(unit, "plain", block=64), job(unit, "plain", block=128)]

    shared = compiled(service, jobs)

    assert runs(folder, request) == 2
    assert [one.files for one in shared] == [one.files for one in compiled(service, jobs, shared=False)]


def test_a_front_end_that_fails_fails_in_every_cell(service: Service, unit: Unit) -> None:
    for attempt in compiled(service, [job(unit, "wrong", num_warps=warps) for warps in (1, 2)]):
        assert attempt.result is not None
        assert (attempt.result["verdict"], attempt.result["stage"]) == ("failed", "frontend")
        assert "power of 2" in attempt.result["text"]


def test_a_front_end_that_dies_leaves_the_cells_to_themselves(service: Service, unit: Unit) -> None:
    with service.shared_front(job(unit, "dying")) as front:
        assert front is None
        attempt = service.compile(job(unit, "dying"), go_on, front)

    assert isinstance(attempt, Attempt)
    assert (attempt.stage, attempt.death) == ("frontend", "its process exited with status 3")


def test_a_process_that_has_ended_meanwhile_is_done_without(service: Service, unit: Unit) -> None:
    with service.shared_front(job(unit, "plain")) as front:
        assert front is not None
        front.close()
        attempt = service.compile(job(unit, "plain", num_warps=2), go_on, front)

    assert isinstance(attempt, Attempt)
    assert attempt.result is not None
    assert attempt.result["verdict"] == "ok"

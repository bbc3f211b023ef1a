"""Sound records that are not ours, under the keys of ours: each is a miss, and none is an error."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from portcheck.cache import Store, envelope
from portcheck.cache.envelope import Record
from portcheck.cache.layout import walk
from portcheck.cells import Cell
from portcheck.rules.request import Request
from portcheck.rules.run import Run

if TYPE_CHECKING:
    from tests.conftest import Project

FILES = {
    "portcheck.toml": """
        [defaults]
        targets = ["cuda:90", "cuda:88", "hip:gfx942"]

        [[kernel]]
        name = "tgamma"
        target = "kernels.py:tgamma"
        signature = { x = "*fp32" }
    """,
    "kernels.py": """
        import triton
        import triton.language as tl
        from triton.language.extra import libdevice

        @triton.jit
        def tgamma(x):
            tl.store(x, libdevice.tgamma(tl.load(x)))
    """,
}
STRANGERS: tuple[Any, ...] = (None, 7, ["x"])
DEEPEST = 4


@pytest.fixture
def warm(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project with records of every kind: ok, failed, and one that only this machine remembers."""
    project.write(FILES)
    ran = project.check()
    assert {cell["verdict"] for cell in ran.cells.values()} == {"ok", "frontend-error", "crash"}
    monkeypatch.setenv("PORTCHECK_CACHE", str(project.cache))
    return project


def verdicts(project: Project) -> dict[str, str]:
    """What a new run knows, asked for in this process, so that an error is seen here."""
    run = Run(Request(project.folder / "portcheck.toml"))
    run.prepare()
    found = {name: result.outcome.verdict for name, result in run.known.items()}
    for cell in run.cells.values():
        if cell.name not in found:
            assert isinstance(cell, Cell) and run.workshop.judge(cell).why(cell)
    for name, result in run.known.items():
        run.workshop.judge(run.cells[name]).artifacts(run.cells[name], result)
    run.close()
    return found


def disfigured(value: Any, depth: int = 0) -> Iterator[Any]:
    """`value` with one part of it gone or of another kind; of a list and of a table only the first entries."""
    yield from (stranger for stranger in STRANGERS if type(stranger) is not type(value))
    if depth == DEEPEST:
        return
    if isinstance(value, dict):
        for name in list(value)[:8]:
            yield {other: inner for other, inner in value.items() if other != name}
            yield from ({**value, name: inner} for inner in disfigured(value[name], depth + 1))
    elif isinstance(value, list) and value:
        yield from ([inner, *value[1:]] for inner in disfigured(value[0], depth + 1))


def test_a_foreign_record_is_a_miss(warm: Project) -> None:
    before = verdicts(warm)
    tried = 0
    for entry in list(walk(Store(warm.cache, warn=print).root)):
        path = Path(entry.path)
        if entry.kind == "blob":
            continue
        sound = path.read_bytes()
        record = envelope.decode(sound)
        for payload in disfigured(dict(record.payload)):
            if isinstance(payload, dict):
                path.write_bytes(envelope.encode(Record(record.preimage, payload)))
                found = verdicts(warm)
                assert found.items() <= before.items(), f"{entry.kind}: {payload}"
                tried += 1
        path.write_bytes(sound)

    assert len(before) == 3
    assert tried > 200

"""The judge: records where they answer, the compile service where they do not. The service is a stand-in here."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from portcheck.cache import Store
from portcheck.cells import Cell
from portcheck.compiler.attempt import Attempt, OnFront
from portcheck.compiler.job import Job, Unit
from portcheck.compiler.slots import Slots
from portcheck.compiler.tree import Imported, Process
from portcheck.digests import Digests
from portcheck.errors import UsageError
from portcheck.inputlists import InputLists
from portcheck.installed import Installed
from portcheck.judge import Judge
from portcheck.observer import Observer
from portcheck.target import Target
from portcheck.toolchain.imports import of_this
from portcheck.toolchain.model import Toolchain
from portcheck.units import units_of
from portcheck.verdicts import Result

MakeCell = Callable[..., Cell]

KERNEL: dict[str, Any] = {
    "params": [{"name": "x", "constexpr": False, "default": False}],
    "tuned": [],
    "computed": [],
    "uses": [],
    "options": {"cuda": ["num_warps"], "hip": ["num_warps"]},
    "parts": {"the code of k": "0123"},
    "open": [],
    "source": ["kernels.py", 1, 1],
}
TYPED = 'signature = { x = "*fp32" }\n'


class FakeService:
    """Imports and compiles nothing, and says what it is told to say."""

    def __init__(self, folder: Path) -> None:
        # It began after everything was written: what is written meanwhile is not filed.
        began = time.time() + 1
        self.imported = Imported(kernels={"k": KERNEL}, inputs=(("file", str(folder / "kernels.py")),), began=began)
        self.result: dict[str, Any] = {"verdict": "ok", "times": {"frontend": 0.1}, "seconds": 0.2, "unfit": []}
        self.front: dict[str, Any] | None = {"ttir": "t", "located": "tl", "options": {}, "settings": {}}
        self.read: tuple[tuple[str, str], ...] = ()
        self.files = {"cubin": b"binary"}
        self.loads: list[tuple[Unit, Target]] = []
        self.jobs: list[Job] = []
        self.slots = Slots(1)
        self.asked: list[Job] = []
        self.fronts: list[Job] = []
        self.results: dict[str, dict[str, Any]] = {}  # constants → another result than that of all
        self.configurations: dict[str, Any] = {"configurations": [], "unfit": []}

    def load(self, unit: Unit, target: Target) -> Imported:
        self.loads.append((unit, target))
        return self.imported

    @contextlib.contextmanager
    def shared_front(self, job: Job) -> Iterator[None]:
        self.fronts.append(job)
        yield None

    def compile(self, job: Job, on_front: OnFront = lambda _: True, front: Process | None = None) -> Attempt | Imported:
        if self.imported.failed:
            return self.imported
        if job.kind == "configurations":
            self.asked.append(job)
            return Attempt("options", self.configurations, None, None, 0.1, "", "", ())
        self.jobs.append(job)
        result = self.results.get(str(job.spec["constants"]), self.result)
        if self.front is not None and not on_front(self.front):
            result = {**result, "verdict": "cutoff"}
        marks = (("frontend", 0), ("ttir", 0))
        return Attempt("cubin", result, None, None, 0.2, "", "", marks, self.read, self.files)


@pytest.fixture
def service(tmp_path: Path) -> FakeService:
    """The stand-in."""
    return FakeService(tmp_path)


@pytest.fixture
def make_judge(tmp_path: Path, store: Store, service: FakeService) -> Callable[..., Judge]:
    """`make_judge(cell, …)`: the judge of a new process; `salt=…`."""

    def make(*cells: Cell, salt: str = "", started: Callable[[], Any] = lambda: service) -> Judge:
        toolchain = Toolchain("3.9.0", "3.11.7", "digest", "python", tmp_path / "triton")
        observer = Observer(
            tmp_path, tmp_path / "triton", InputLists(store), Installed(of_this().site, Digests(store, tmp_path), store)
        )
        time.sleep(0.02)  # the import that follows begins after the sources were written, by any clock
        return Judge(toolchain, units_of(cell.row for cell in cells), store, observer, {}, salt, "installed", started)

    return make


def test_a_cell_is_compiled_once(make_judge: Callable[..., Judge], make_cell: MakeCell, service: FakeService) -> None:
    cell = make_cell(TYPED)

    first = make_judge(cell).judge(cell)
    second = make_judge(cell).judge(cell)

    assert (first.origin, second.origin) == ("compiled", "cached")
    assert first.outcome == second.outcome
    assert (first.front_key, first.back_key, first.kernel_hash) == (
        second.front_key,
        second.back_key,
        second.kernel_hash,
    )
    assert (len(service.loads), len(service.jobs)) == (1, 1)


def test_looking_up_starts_no_service(
    make_judge: Callable[..., Judge], make_cell: MakeCell, service: FakeService
) -> None:
    cell = make_cell(TYPED)

    def start() -> FakeService:
        raise AssertionError("the service was started")

    assert make_judge(cell, started=start).look_up(cell) is None
    assert make_judge(cell, started=start).why(cell).startswith("kernels.py is new")
    make_judge(cell).judge(cell)
    found = make_judge(cell, started=start).look_up(cell)

    assert found is not None and found.origin == "cached"
    assert make_judge(cell, started=start).artifacts(cell, found) == {"cubin": b"binary"}


def test_what_was_resolved_and_never_compiled_is_unknown(
    make_judge: Callable[..., Judge], make_cell: MakeCell, service: FakeService
) -> None:
    cell = make_cell(TYPED)
    judge = make_judge(cell)

    judge.resolve(cell)

    assert judge.look_up(cell) is None
    assert make_judge(cell).why(cell) == "it was never compiled here"
    assert service.jobs == []


def test_force_compiles_what_is_known(
    make_judge: Callable[..., Judge], make_cell: MakeCell, service: FakeService
) -> None:
    cell = make_cell(TYPED)
    make_judge(cell).judge(cell)

    assert make_judge(cell).judge(cell, force=True).origin == "compiled"


def test_the_same_ttir_with_other_arguments_is_cut_off(
    make_judge: Callable[..., Judge], make_cell: MakeCell, service: FakeService
) -> None:
    one, other = make_cell(TYPED), make_cell(TYPED.replace("fp32", "fp16"))
    first = make_judge(one).judge(one)

    second = make_judge(other).judge(other)
    third = make_judge(other).judge(other)

    assert (second.origin, third.origin) == ("cutoff", "cached")
    assert second.outcome == first.outcome
    assert (second.back_key, third.back_key) == (first.back_key, first.back_key)
    assert second.front_key != first.front_key


@pytest.mark.parametrize("change", ["salt", "target", "option"])
def test_what_counts(make_judge: Callable[..., Judge], make_cell: MakeCell, service: FakeService, change: str) -> None:
    cell = make_cell(TYPED)
    make_judge(cell).judge(cell)

    other = make_cell(
        TYPED + ("options = { num_warps = 8 }" if change == "option" else ""),
        "hip:gfx942" if change == "target" else "cuda:90",
    )
    service.front = {**(service.front or {}), "options": {"of": change}}
    assert make_judge(other, salt=change if change == "salt" else "").judge(other).origin == "compiled"


def test_a_launch_limit_is_no_part_of_the_record(
    make_judge: Callable[..., Judge], make_cell: MakeCell, service: FakeService
) -> None:
    service.files["json"] = b'{"shared": 262144, "num_warps": 4, "warp_size": 32}'
    settings = {setting: f'{TYPED}launch_limits = "{setting}"' for setting in ("fail", "off", "warn")}

    results = {setting: make_judge(cell).judge(cell) for setting, row in settings.items() for cell in [make_cell(row)]}

    assert {setting: result.outcome.verdict for setting, result in results.items()} == {
        "fail": "launch-limit",
        "off": "ok",
        "warn": "ok",
    }
    assert {setting: bool(result.warning) for setting, result in results.items()} == {
        "fail": False,
        "off": False,
        "warn": True,
    }
    assert [result.origin for result in results.values()] == ["compiled", "cached", "cached"]


def test_a_row_that_does_not_fit_is_the_user_s_mistake_also_when_it_is_looked_up(
    make_judge: Callable[..., Judge], make_cell: MakeCell
) -> None:
    cell = make_cell('signature = { y = "*fp32" }')

    for ask in (make_judge(cell).judge, make_judge(cell).resolve, make_judge(cell).look_up):
        with pytest.raises(UsageError, match='signature: no parameter "y"'):
            ask(cell)


def failing(**error: Any) -> Mapping[str, Any]:
    """An error of an import."""
    return {"type": "builtins.KeyError", "text": "'x'", "traceback": "", "place": None, "missing_module": None, **error}


def test_a_module_that_raises_makes_its_rows_red(
    make_judge: Callable[..., Judge], make_cell: MakeCell, service: FakeService
) -> None:
    cell = make_cell(TYPED)
    service.imported = Imported(error=dict(failing()))

    result = make_judge(cell).judge(cell)

    assert (result.outcome.verdict, result.origin) == ("import-error", "compiled")
    assert service.jobs == []


@pytest.mark.parametrize(("missing", "is_mistake"), [("numpy", False), ("kernels.py", True)])
def test_a_missing_module_is_a_mistake_only_if_the_manifest_names_it(
    make_judge: Callable[..., Judge], make_cell: MakeCell, service: FakeService, missing: str, is_mistake: bool
) -> None:
    cell = make_cell(TYPED)
    service.imported = Imported(error=dict(failing(missing_module=missing)))

    if is_mistake:
        with pytest.raises(UsageError, match=f'no module "{missing}"'):
            make_judge(cell).judge(cell)
    else:
        assert make_judge(cell).judge(cell).outcome.verdict == "import-error"


def test_nothing_is_recorded_of_sources_that_change_while_they_are_compiled(
    make_judge: Callable[..., Judge], make_cell: MakeCell, service: FakeService, tmp_path: Path
) -> None:
    cell = make_cell(TYPED)
    judge = make_judge(cell)
    judge.resolve(cell)
    (tmp_path / "kernels.py").write_text("# changed meanwhile")

    result = judge.judge(cell)

    assert (result.outcome.verdict, result.origin) == ("ok", "compiled")
    (tmp_path / "kernels.py").write_text("")
    assert make_judge(cell).look_up(cell) is None


def test_what_compiling_reads_more_than_importing_counts(
    make_judge: Callable[..., Judge], make_cell: MakeCell, service: FakeService, tmp_path: Path
) -> None:
    cell = make_cell(TYPED)
    (tmp_path / "factor.txt").write_text("3")
    service.read = (("file", str(tmp_path / "factor.txt")),)
    assert make_judge(cell).judge(cell).origin == "compiled"
    assert make_judge(cell).judge(cell).origin == "cached"

    (tmp_path / "factor.txt").write_text("5")

    assert make_judge(cell).look_up(cell) is None


def test_nothing_is_recorded_of_a_cell_that_does_what_no_record_can_hold(
    make_judge: Callable[..., Judge], make_cell: MakeCell, service: FakeService
) -> None:
    cell = make_cell(TYPED)
    service.result = {**service.result, "unfit": ["subprocess.Popen by kernels"]}

    assert make_judge(cell).judge(cell).outcome.verdict == "ok"
    assert make_judge(cell).look_up(cell) is None


def test_a_closed_kernel_is_keyed_on_what_it_reaches_and_an_open_one_on_everything(
    make_judge: Callable[..., Judge], make_cell: MakeCell, service: FakeService, tmp_path: Path
) -> None:
    def hashes(kernel: Mapping[str, Any], *texts: str) -> list[str | None]:
        service.imported = replace(service.imported, kernels={"k": kernel})
        found = []
        for text in texts:
            cell = make_cell(TYPED)
            (tmp_path / "kernels.py").write_text(text)
            found.append(make_judge(cell).judge(cell).kernel_hash)
        return found

    closed, still_closed = hashes(KERNEL, "one", "two")
    opened, changed = hashes({**KERNEL, "open": ["it reads os.environ"]}, "three", "four")

    assert closed == still_closed
    assert len({closed, opened, changed}) == 3


def test_a_result_carries_the_kernel_s_place(make_judge: Callable[..., Judge], make_cell: MakeCell) -> None:
    cell = make_cell(TYPED)

    result: Result = make_judge(cell).judge(cell)

    assert result.source is not None and (result.source.file, result.source.line) == ("kernels.py", 1)


def test_a_cell_is_told_apart_by_its_front_key_without_compiling_it(
    make_judge: Callable[..., Judge], make_cell: MakeCell, service: FakeService, tmp_path: Path
) -> None:
    cell = make_cell(TYPED)
    judge = make_judge(cell)
    assert judge.inputs(cell) is None  # nothing is known of it yet

    identity = judge.identity(cell)

    inputs = judge.inputs(cell)
    assert inputs is not None and list(inputs.stats) == [str(tmp_path / "kernels.py")]
    assert service.jobs == []
    assert identity == judge.judge(cell).front_key


def test_a_cell_is_told_apart_by_what_only_compiling_it_read(
    make_judge: Callable[..., Judge], make_cell: MakeCell, service: FakeService, tmp_path: Path
) -> None:
    cell = make_cell(TYPED)
    (tmp_path / "factor.txt").write_text("3")
    service.read = (("file", str(tmp_path / "factor.txt")),)
    make_judge(cell).judge(cell)
    before = make_judge(cell).identity(cell)

    (tmp_path / "factor.txt").write_text("5")

    assert make_judge(cell).identity(cell) != before
    (tmp_path / "factor.txt").write_text("3")
    assert make_judge(cell).identity(cell) == before


def test_an_open_cell_that_was_never_compiled_is_like_no_other(
    make_judge: Callable[..., Judge], make_cell: MakeCell, service: FakeService
) -> None:
    """Who knows what it reads?"""
    cell = make_cell(TYPED)
    service.imported = replace(service.imported, kernels={"k": {**KERNEL, "open": ["an import inside k"]}})
    assert make_judge(cell).identity(cell) is None

    make_judge(cell).judge(cell)

    assert make_judge(cell).identity(cell) is not None


def test_a_cell_that_cannot_be_imported_is_like_no_other(
    make_judge: Callable[..., Judge], make_cell: MakeCell, service: FakeService
) -> None:
    cell = make_cell(TYPED)
    service.imported = Imported(death="its process was killed by signal 9")

    assert make_judge(cell).identity(cell) is None


TUNED = {**KERNEL, "params": [*KERNEL["params"], {"name": "B", "constexpr": True, "default": False}], "tuned": ["B"]}


def configuration(block: int, warps: int) -> dict[str, Any]:
    label = f"B={block}, num_warps={warps}"
    return {"label": label, "constants": {"B": block}, "options": {"num_warps": warps}, "signature": {}}


@pytest.fixture
def tuned(service: FakeService) -> FakeService:
    """A kernel with two blocks in two widths."""
    service.imported = replace(service.imported, kernels={"k": TUNED})
    service.configurations["configurations"] = [configuration(b, w) for b in (1, 2) for w in (4, 8)]
    return service


def test_every_configuration_that_a_row_asks_for_is_compiled_once(
    make_judge: Callable[..., Judge], make_cell: MakeCell, tuned: FakeService
) -> None:
    cell = make_cell(TYPED + 'configs = "all"')

    first, second = make_judge(cell).judge(cell), make_judge(cell).look_up(cell)

    assert [(j.spec["constants"], j.spec["options"]) for j in tuned.jobs] == [
        ({"B": block}, {"num_warps": warps}) for block in (1, 2) for warps in (4, 8)
    ]
    assert [one.spec["constants"] for one in tuned.fronts] == [{"B": 1}, {"B": 2}]  # those with one block share
    assert first.configs is not None
    assert (first.configs.ok, first.configs.of, first.configs.total) == (4, 4, 4)
    assert second is not None
    assert (first.origin, second.origin, second.configs) == ("compiled", "cached", first.configs)
    assert len(tuned.asked) == 1


def test_one_more_configuration_costs_one_compile(
    make_judge: Callable[..., Judge], make_cell: MakeCell, tuned: FakeService
) -> None:
    first, everything = make_cell(TYPED), make_cell(TYPED + 'configs = "all"')
    make_judge(first).judge(first)
    judge = make_judge(everything)
    assert len(tuned.jobs) == 1

    cost = judge.cost(everything)

    assert cost is not None
    assert (cost.total, cost.asked, cost.unknown) == (4, 4, 3)
    assert cost.seconds == pytest.approx(3 * 0.2)
    assert judge.look_up(everything) is None
    judge.judge(everything)
    assert len(tuned.jobs) == 4


def test_the_artifacts_are_those_of_the_configuration_that_is_shown(
    make_judge: Callable[..., Judge], make_cell: MakeCell, tuned: FakeService
) -> None:
    tuned.front = None
    failed = {"verdict": "failed", "stage": "frontend", "type": "E", "text": "no", "outer": "", "raised_by": "E"}
    tuned.results["{'B': 1}"] = {**tuned.result, **failed, "places": [], "traceback": "", "environment": False}
    cell = make_cell(TYPED + 'configs = "all"')
    judge = make_judge(cell)

    result = judge.judge(cell)

    assert result.configs is not None
    assert (result.configs.ok, result.configs.shown) == (2, "B=2, num_warps=4")
    assert judge.artifacts(cell, result) == {"cubin": b"binary"}

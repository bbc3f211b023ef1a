"""The compile service with the real Triton: importing, compiling, stopping."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest

from portcheck.compiler import service as module
from portcheck.compiler.attempt import Attempt
from portcheck.compiler.job import Job, Unit
from portcheck.compiler.service import Service
from portcheck.compiler.tree import Imported, Interrupted
from portcheck.target import Target
from portcheck.toolchain.model import Toolchain

Write = Callable[[str, str], str]

CUDA, HIP = Target("cuda", "90"), Target("hip", "gfx942")
COPY = """
import os
import triton
import triton.language as tl

@triton.jit
def copy(x, y):
    tl.store(y, tl.load(x))
"""
POINTERS = {name: {"type": "*fp32", "divisible": False, "large": False} for name in "xy"}


def job(unit: Unit, function: str = "copy", target: Target = CUDA, **spec: Any) -> Job:
    """A job with the specialisation of `copy`, unless another is given."""
    full = {"signature": POINTERS, "constants": {}, "options": {}, **spec}
    return Job(unit, function, full, target, timeout=60, max_rss=4 << 30)


def go_on(front: Mapping[str, Any]) -> bool:
    """The answer of a tool that knows nothing of this TTIR."""
    return True


def compiled(attempt: Attempt | Imported) -> Attempt:
    """The attempt of a job whose unit was imported."""
    assert isinstance(attempt, Attempt)
    return attempt


def test_a_unit_s_kernels_are_described(service: Service, write: Write) -> None:
    name = write(
        "described.py",
        """
        import triton
        import triton.language as tl

        LIMIT = 3

        @triton.autotune([triton.Config({"BLOCK": 64}, num_warps=2), triton.Config({"BLOCK": 128})], key=["n"])
        @triton.heuristics({"EVEN": lambda args: args["n"] % 2 == 0})
        @triton.jit
        def tuned(x, n, BLOCK: tl.constexpr, EVEN: tl.constexpr, FLAG: tl.constexpr = True):
            pass
        """,
    )

    imported = service.load(Unit(name, True, ("tuned", "LIMIT", "tunde")), CUDA)

    assert not imported.failed
    tuned = imported.kernels["tuned"]
    assert [(p["name"], p["constexpr"], p["default"]) for p in tuned["params"]] == [
        ("x", False, False),
        ("n", False, False),
        ("BLOCK", True, False),
        ("EVEN", True, False),
        ("FLAG", True, True),
    ]
    assert {"BLOCK", "num_warps"} <= set(tuned["tuned"])
    assert tuned["computed"] == ["EVEN"]
    assert tuned["source"] == ["described.py", 10, 1]
    assert imported.kernels["LIMIT"]["no_kernel"] == "int"
    assert imported.kernels["tunde"] == {"missing": True, "kernels": ["tuned"], "uses": [], "options": tuned["options"]}


def test_everything_that_importing_reads_is_an_input(service: Service, write: Write, folder: Path) -> None:
    write("read_me.txt", "7")
    write("read_too.py", "VALUE = 1")
    name = write(
        "reader.py",
        COPY
        + """
import read_too
with open(os.path.join(os.path.dirname(__file__), "read_me.txt")) as file:
    file.read()
with open("written.txt", "w") as file:
    file.write("7")
os.path.exists("asked_for.txt")
os.environ.get("ASKED")
try:
    import not_there
except ImportError:
    pass
""",
    )

    inputs = service.load(Unit(name, True, ("copy",)), CUDA).inputs

    ours = {(kind, path.removeprefix(f"{folder}/")) for kind, path in inputs if path.startswith(str(folder))}
    assert {path for kind, path in ours if kind == "file"} == {"reader.py", "read_too.py", "read_me.txt"}
    assert ("stat", "asked_for.txt") in ours
    assert {("env", "ASKED"), ("find", "read_too"), ("find", "not_there")} <= set(inputs)


def test_a_unit_is_imported_once_however_many_cells_it_has(service: Service, write: Write, folder: Path) -> None:
    name = write("counted.py", COPY + "\nwith open('counted.txt', 'a') as file: file.write('x')\n")
    unit = Unit(name, True, ("copy",))

    attempts = [compiled(service.compile(job(unit, target=target), go_on)) for target in (CUDA, HIP, CUDA)]

    assert [attempt.result and attempt.result["verdict"] for attempt in attempts] == ["ok"] * 3
    assert (folder / "counted.txt").read_text() == "x"


def test_an_attempt_tells_its_stages_outputs_and_artifacts(service: Service, write: Write) -> None:
    name = write(
        "talks.py",
        """
        import sys
        import triton
        import triton.language as tl

        @triton.constexpr_function
        def talk():
            print("on fd 1")
            print("on fd 2", file=sys.stderr)
            return 3.0

        @triton.jit
        def copy(x, y):
            tl.store(y, talk())
        """,
    )

    attempt = compiled(service.compile(job(Unit(name, True, ("copy",))), go_on))

    stages = [stage for stage, _ in attempt.marks]
    assert list(dict.fromkeys(stages)) == ["options", "frontend", "ttir", "ttgir", "llir", "ptx", "cubin"]
    assert attempt.out.startswith("on fd 1")
    assert attempt.err == "on fd 2\n"
    assert {"ttir", "ttgir", "llir", "ptx", "cubin", "json"} <= set(attempt.files)
    assert (attempt.death, attempt.breach, attempt.stage) == (None, None, "cubin")


def test_a_known_ttir_is_not_compiled(service: Service, write: Write) -> None:
    name = write("known.py", COPY)
    fronts: list[Mapping[str, Any]] = []

    attempt = compiled(service.compile(job(Unit(name, True, ("copy",))), lambda front: bool(fronts.append(front))))

    assert attempt.result is not None
    assert (attempt.result["verdict"], attempt.stage) == ("cutoff", "ttir")
    (front,) = fronts
    assert front["ttir"] != front["located"]
    assert front["options"]["num_warps"] == 4


def test_the_answer_to_a_ttir_does_not_depend_on_comments_or_position(service: Service, write: Write) -> None:
    def front(name: str) -> Mapping[str, Any]:
        fronts: list[Mapping[str, Any]] = []
        service.compile(job(Unit(name, True, ("copy",))), lambda front: bool(fronts.append(front)))
        return fronts[0]

    first = front(write("plain_copy.py", COPY))
    moved = front(write("moved_copy.py", "# a comment\n" * 5 + COPY))

    assert moved["ttir"] == first["ttir"]
    assert moved["located"] != first["located"]


def test_the_unit_s_environment_and_setup_come_before_its_import(service: Service, write: Write) -> None:
    write("before.py", "import os\ndef prepare():\n    os.environ['PREPARED'] = os.environ['GIVEN'] + ' and set up'\n")
    name = write("after.py", COPY + "\nassert os.environ['PREPARED'] == 'given and set up'\n")

    imported = service.load(Unit(name, True, ("copy",), env=(("GIVEN", "given"),), setup="before:prepare"), CUDA)

    assert imported.error is None


def test_a_module_of_a_package_is_forked_from_its_package(service: Service, write: Write, folder: Path) -> None:
    count = "\nwith open('family.txt', 'a') as file: file.write(__name__ + ' ')\n"
    write("family/__init__.py", count)
    for child in ("first", "second"):
        write(f"family/{child}.py", COPY + count)

    for child in ("first", "second"):
        assert not service.load(Unit(f"family.{child}", False, ("copy",)), CUDA).failed

    assert sorted((folder / "family.txt").read_text().split()) == ["family", "family.first", "family.second"]


def test_modules_that_came_with_their_package_share_its_process(
    toolchain: Toolchain, write: Write, folder: Path, until: Callable[[Callable[[], Any]], None]
) -> None:
    write("flock/__init__.py", "from flock import first, second\n")
    units = []
    for child in ("first", "second"):
        write(f"flock/{child}.py", COPY)
        units.append(Unit(f"flock.{child}", False, ("copy",)))
    before = set(psutil.Process().children(recursive=True))
    service = Service(toolchain, folder, "fork", ["cuda"])

    for unit in units:
        assert "copy" in service.load(unit, CUDA).kernels
        assert compiled(service.compile(job(unit), go_on)).result

    until(lambda: len(set(psutil.Process().children(recursive=True)) - before) == 2)  # root and package
    service.close()


def test_a_module_that_changes_what_was_described_before_is_described_as_it_will_be_compiled(
    toolchain: Toolchain, write: Write, folder: Path
) -> None:
    write("late/__init__.py", "from late import helper\n")
    write("late/helper.py", COPY + "\nN = tl.constexpr(1)\n@triton.jit\ndef more(x):\n    return x + N\n")
    write("late/changes.py", COPY.replace("tl.load(x)", "helper.more(tl.load(x))") + "\nfrom late import helper\n")
    helper, changes = Unit("late.helper", False, ("more",)), Unit("late.changes", False, ("copy",))
    with (folder / "late" / "changes.py").open("a") as file:
        file.write("helper.N = tl.constexpr(2)\n")

    described = []
    for units in ((helper, changes), (changes,)):
        service = Service(toolchain, folder, "fork", ["cuda"])
        described.append([service.load(unit, CUDA).kernels for unit in units])
        service.close()

    (first, after), (alone,) = described
    assert after == alone
    label = "value of N in late.helper"
    assert first["more"]["parts"][label] != after["copy"]["parts"][label]


def test_what_makes_a_package_unfit_for_records_makes_its_modules_unfit(service: Service, write: Write) -> None:
    write("asks_others/__init__.py", "import subprocess\nVERSION = subprocess.check_output(['echo', '1'])\n")
    write("asks_others/kernels.py", COPY)
    unit = Unit("asks_others.kernels", False, ("copy",))

    assert service.load(unit, CUDA).unfit == ("subprocess.Popen by asks_others",)


def test_a_unit_whose_process_ends_after_the_import_is_imported_again(
    service: Service, write: Write, folder: Path, until: Callable[[Callable[[], Any]], None]
) -> None:
    ends = """
import threading, time

def end_when_told():
    while not os.path.exists("end_now"):
        time.sleep(0.01)
    os._exit(7)

threading.Thread(target=end_when_told, daemon=True).start()
"""
    unit = Unit(write("ends_late.py", COPY + ends), True, ("copy",))
    before = set(psutil.Process().children(recursive=True))
    assert not service.load(unit, CUDA).failed
    (folder / "end_now").touch()
    until(lambda: not set(psutil.Process().children(recursive=True)) - before)
    (folder / "end_now").unlink()

    assert isinstance(service.compile(job(unit), go_on), Attempt)


def test_a_unit_whose_process_ends_every_time_failed(service: Service, write: Write) -> None:
    ends = "\nimport threading\nthreading.Thread(target=os._exit, args=(7,)).start()\n"
    unit = Unit(write("ends_at_once.py", COPY + ends), True, ("copy",))

    ended = service.compile(job(unit), go_on)

    assert isinstance(ended, Imported) and ended.failed


def test_an_idle_unit_makes_room_and_is_imported_again(
    toolchain: Toolchain, write: Write, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_IDLE_LIMIT", 1)
    monkeypatch.setattr(module, "_EXPENSIVE", float("inf"))
    count = "\nwith open('idle.txt', 'a') as file: file.write(__file__[-7:-3] + ' ')\n"
    units = [Unit(write(f"idle_{name}.py", COPY + count), True, ("copy",)) for name in ("ab", "cd")]
    service = Service(toolchain, folder, "fork", ["cuda"])

    for unit in (*units, units[0]):
        assert isinstance(service.compile(job(unit), go_on), Attempt)
    service.close()

    assert (folder / "idle.txt").read_text().split() == ["e_ab", "e_cd", "e_ab"]


def test_stopping_interrupts_whoever_waits_and_leaves_no_process(
    toolchain: Toolchain, write: Write, folder: Path, until: Callable[[Callable[[], Any]], None]
) -> None:
    name = write(
        "waits.py",
        """
        import pathlib, triton, triton.language as tl

        @triton.constexpr_function
        def wait():
            pathlib.Path("waiting").touch()
            while True:
                pass

        @triton.jit
        def copy(x, y):
            wait()
        """,
    )
    before = set(psutil.Process().children(recursive=True))
    service = Service(toolchain, folder, "fork", ["cuda"])
    raised: list[type[BaseException]] = []

    def compile_in_a_thread() -> None:
        try:
            service.compile(job(Unit(name, True, ("copy",))), go_on)
        except Interrupted as interrupted:
            raised.append(type(interrupted))

    waiting = threading.Thread(target=compile_in_a_thread)
    waiting.start()
    until((folder / "waiting").exists)
    ours = set(psutil.Process().children(recursive=True)) - before
    assert len(ours) == 3  # root, module, cell
    service.stop()
    waiting.join(timeout=10)

    assert raised == [Interrupted]
    service.close()
    _, alive = psutil.wait_procs(ours, timeout=3)
    assert alive == []


def test_closing_leaves_no_process(toolchain: Toolchain, write: Write, folder: Path) -> None:
    before = set(psutil.Process().children(recursive=True))
    service = Service(toolchain, folder, "fork", ["cuda"])
    service.load(Unit(write("closed.py", COPY), True, ("copy",)), CUDA)
    ours = set(psutil.Process().children(recursive=True)) - before

    service.close()

    _, alive = psutil.wait_procs(ours, timeout=3)
    assert alive == []

"""Kernels and modules that misbehave: each is one red row, its neighbours are unharmed, and no process is left."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Project, Ran

MANIFEST = """
    [defaults]
    targets = ["cuda:90"]
    timeout = 60

    [[kernel]]
    name = "good"
    target = "good.py:copy"
    signature = { x = "*fp32", y = "*fp32" }
    targets = ["cuda:90", "cuda:88", "hip:gfx942"]

    [[kernel]]
    name = "busy"
    target = "busy.py:spin"
    signature = { x = "*fp32" }
    timeout = 2

    [[kernel]]
    name = "greedy"
    target = "greedy.py:hoard"
    signature = { x = "*fp32" }
    max_rss = "400MiB"

    [[kernel]]
    name = "killed"
    target = "killed.py:die"
    signature = { x = "*fp32" }

    [[kernel]]
    name = "raises"
    target = "raises.py:kernel"
    signature = { x = "*fp32" }

    [[kernel]]
    name = "exits"
    target = "exits.py:kernel"
    signature = { x = "*fp32" }

    [[kernel]]
    name = "system_exit"
    target = "system_exit.py:kernel"
    signature = { x = "*fp32" }

    [[kernel]]
    name = "hangs"
    target = "hangs.py:kernel"
    signature = { x = "*fp32" }
    timeout = 2

    [[kernel]]
    name = "package_hangs"
    target = "stuck.kernels:kernel"
    signature = { x = "*fp32" }
    timeout = 2

    [[kernel]]
    name = "threads"
    target = "threads.py:copy"
    signature = { x = "*fp32", y = "*fp32" }

    [[kernel]]
    name = "daemon"
    target = "daemon.py:copy"
    signature = { x = "*fp32", y = "*fp32" }
"""
GOOD = """
import triton
import triton.language as tl

@triton.jit
def copy(x, y):
    tl.store(y, tl.load(x))
"""
CALLS = """
import ctypes, triton, triton.language as tl

@triton.constexpr_function
def trouble():
    {trouble}
    return 1

@triton.jit
def {name}(x):
    tl.store(x, trouble())
"""
FILES = {
    "portcheck.toml": MANIFEST,
    "good.py": GOOD,
    "busy.py": CALLS.format(name="spin", trouble="while True: pass"),
    "greedy.py": CALLS.format(name="hoard", trouble="kept = [bytearray(b'x' * (1 << 24)) for _ in range(1 << 16)]"),
    "killed.py": CALLS.format(name="die", trouble="ctypes.CDLL(None).abort()"),
    "raises.py": "import triton\n\ndef configure():\n    raise KeyError('no such device')\n\nconfigure()\n",
    "exits.py": "import os\nprint('about to leave', flush=True)\nos._exit(7)\n",
    "system_exit.py": "raise SystemExit('this module is a script')\n",
    "hangs.py": "while True: pass\n",
    "stuck/__init__.py": "",
    "stuck/kernels.py": "import time\ntime.sleep(600)\n",
    "threads.py": GOOD
    + "\nimport threading, time\nthreading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n",
    "daemon.py": GOOD + "\nimport subprocess\nsubprocess.Popen(['sleep', '600'])\n",
}
EXPECTED = {
    "good@cuda:90": ("ok", None),
    "good@cuda:88": ("crash", "llir"),  # LLVM ends the process
    "good@hip:gfx942": ("ok", None),
    "busy@cuda:90": ("timeout", "frontend"),
    "greedy@cuda:90": ("memory-limit", "frontend"),
    "killed@cuda:90": ("crash", "frontend"),
    "raises@cuda:90": ("import-error", "import"),
    "exits@cuda:90": ("import-error", "import"),
    "system_exit@cuda:90": ("import-error", "import"),
    "hangs@cuda:90": ("timeout", "import"),
    "package_hangs@cuda:90": ("timeout", "import"),
    "threads@cuda:90": ("ok", None),
    "daemon@cuda:90": ("ok", None),
}


@pytest.fixture(scope="module")
def troubled(make_project: Callable[[], Project]) -> Project:
    """A project with good and bad kernels."""
    project = make_project()
    project.write(FILES)
    return project


@pytest.fixture(scope="module")
def ran(troubled: Project) -> Ran:
    """Its first run."""
    return troubled.check()


def test_each_trouble_is_a_verdict_of_its_own_row(ran: Ran) -> None:
    assert ran.verdicts == EXPECTED
    assert ran.status == 1


def test_no_process_is_left(troubled: Project, ran: Ran) -> None:
    assert troubled.left_behind() == []


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("good@cuda:88", "PTX version 8.8 does not support target 'sm_88'"),
        ("busy@cuda:90", "still in stage frontend after 2 s"),
        ("greedy@cuda:90", "more than 400.0 MiB of memory in stage frontend"),
        ("killed@cuda:90", "killed by signal 6"),
        ("raises@cuda:90", "KeyError: 'no such device'"),
        ("exits@cuda:90", "importing exits.py failed: its process exited with status 7"),
        ("system_exit@cuda:90", "SystemExit: this module is a script"),
        ("hangs@cuda:90", "importing hangs.py did not finish within 2 s"),
    ],
)
def test_it_is_said_in_one_line(ran: Ran, cell: str, said: str) -> None:
    assert said in ran.failure(cell)["message"]


def test_a_failed_import_is_told_with_its_traceback_and_output(ran: Ran) -> None:
    detail = ran.failure("raises@cuda:90")["detail"]
    assert 'File "raises.py", line 6' in detail
    assert 'File "raises.py", line 4, in configure' in detail
    assert "portcheck" not in detail
    assert "about to leave" in ran.failure("exits@cuda:90")["detail"]


def test_a_second_run_remembers_what_this_machine_saw(troubled: Project, ran: Ran) -> None:
    again = troubled.check()
    assert again.verdicts == EXPECTED
    remembered = {"good@cuda:88", "busy@cuda:90", "greedy@cuda:90", "killed@cuda:90"}
    assert {name for name, origin in again.origins.items() if origin == "cached"} >= remembered


def test_what_the_machine_did_is_in_no_shared_record(troubled: Project, ran: Ran) -> None:
    shared = [
        path.read_bytes() for kind in ("front", "back", "inputs") for path in (troubled.cache / "1" / kind).glob("*/*")
    ]
    assert shared
    for verdict in (b"crash", b"timeout", b"memory-limit", b"import-error"):
        assert not [record for record in shared if verdict in record]


def test_a_larger_limit_is_tried(troubled: Project, ran: Ran) -> None:
    assert troubled.check("-k", "busy", "--timeout", "1").origins == {"busy@cuda:90": "cached"}
    assert troubled.check("-k", "busy", "--timeout", "2.5").origins == {"busy@cuda:90": "compiled"}


def test_the_limit_of_the_command_line_holds_for_imports_too(troubled: Project) -> None:
    ran = troubled.check("-k", "hangs", "--timeout", "1")

    assert "importing hangs.py did not finish within 1 s" in ran.failure("hangs@cuda:90")["message"]

"""Environments: each is whole or not there, whatever happens while it is made and afterwards."""

from __future__ import annotations

import contextlib
import errno
import os
import pkgutil
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from portcheck.cache import Store
from portcheck.errors import EnvironmentProblem, UsageError
from portcheck.toolchain import installers, receipts, wheels
from portcheck.toolchain.environments import Environment, Environments, Wanted, home
from portcheck.toolchain.find import find
from portcheck.toolchain.interpreters import this
from tests.portcheck.toolchain.conftest import MakeWheel

WANTED = Wanted("9.8.7")

# Before or after which call a process that makes an environment is killed.
STEPS = [
    ("before", "portcheck.toolchain.wheels:on_index"),
    ("after", "portcheck.toolchain.wheels:on_index"),
    ("before", "portcheck.toolchain.environments:_remove"),
    ("after", "portcheck.toolchain.environments:_remove"),
    ("before", "portcheck.toolchain.receipts:Receipt.write"),
    ("after", "portcheck.toolchain.receipts:Receipt.write"),
    ("before", "portcheck.toolchain.installers:make_venv"),
    ("after", "portcheck.toolchain.installers:make_venv"),
    ("before", "portcheck.toolchain.installers:install"),
    ("after", "portcheck.toolchain.installers:install"),
    ("after", "portcheck.toolchain.environments:damage"),
    ("before", "portcheck.toolchain.receipts:digests"),
    ("after", "portcheck.toolchain.receipts:disk_use"),
    ("before", "portcheck.toolchain.receipts:asdict"),  # when the file of the first receipt is open and empty
]


def fork(run: Callable[[], object]) -> int:
    """The PID of a process that runs this and ends, with status 1 if it raises."""
    if pid := os.fork():
        return pid
    try:
        run()
        os._exit(0)
    finally:
        os._exit(1)


def ended(pid: int) -> int:
    """The exit status of a process, or minus the signal that killed it."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def kill_at(when: str, step: str, patch: pytest.MonkeyPatch) -> None:
    """Have this process kill itself before or after a function is called."""
    place, _, function = step.rpartition(":")
    real = pkgutil.resolve_name(step)

    def deadly(*arguments: object, **keywords: object) -> object:
        if when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        real(*arguments, **keywords)
        os.kill(os.getpid(), signal.SIGKILL)

    owner, _, name = function.rpartition(".")
    patch.setattr(pkgutil.resolve_name(f"{place}:{owner}" if owner else place), name, deadly)


def is_whole(environment: Environment) -> bool:
    """Is everything there that a run of it needs?"""
    assert environment.receipt is not None
    package = environment.folder / environment.receipt.package
    command = [environment.folder / "bin" / "python", "-c", "import triton; print(triton.__version__, triton.__file__)"]
    printed = subprocess.check_output(command, text=True).split()
    return printed == ["9.8.7", str(package / "__init__.py")] and (package / "_C" / "libtriton.so").stat().st_size > 0


@pytest.mark.usefixtures("unpack")
@pytest.mark.parametrize(("when", "step"), STEPS, ids=[f"{when}-{step.rpartition('.')[2]}" for when, step in STEPS])
def test_a_creation_that_is_killed_is_done_again(
    when: str, step: str, environments: Environments, make_wheel: MakeWheel, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_wheel()
    with monkeypatch.context() as patch:
        kill_at(when, step, patch)
        assert ended(fork(lambda: environments.add(WANTED, this()))) == -signal.SIGKILL

    assert is_whole(environments.ready(WANTED, this()))


def _truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


# What happens to a finished environment, and to which of its files.
DAMAGE: list[tuple[Callable[[Path], None], str]] = [
    (Path.unlink, receipts.NAME),
    (_truncate, receipts.NAME),
    (lambda path: path.write_text("[]"), receipts.NAME),
    (lambda path: path.write_text(path.read_text().replace('"format": 1', '"format": 0')), receipts.NAME),
    (Path.unlink, "pyvenv.cfg"),
    (_truncate, "pyvenv.cfg"),
    (Path.unlink, "bin/python"),
    (lambda path: (path.unlink(), path.symlink_to("/nowhere"))[0], "bin/python"),
    (_truncate, "{site}/triton/__init__.py"),
    (Path.unlink, "{site}/triton/__init__.py"),
    (_truncate, "{site}/triton/_C/libtriton.so"),
    (lambda path: path.write_text(path.read_text().upper()), "{site}/triton/_C/libtriton.so"),
    (Path.unlink, "{site}/triton/_C/libtriton.so"),
    (lambda path: (path / "new.py").touch(), "{site}/triton"),
    (shutil.rmtree, "{site}/triton"),
    (shutil.rmtree, "{site}/triton-9.8.7.dist-info"),
    (lambda path: (path / "other.py").touch(), "{site}"),
    (shutil.rmtree, "{site}"),
    (shutil.rmtree, "lib"),
    (shutil.rmtree, "."),
]


@pytest.mark.usefixtures("unpack")
def test_whatever_is_damaged_is_noticed_and_made_again(
    environments: Environments, store: Store, said: list[str], make_wheel: MakeWheel
) -> None:
    make_wheel()
    digest = find("9.8.7", store).digest
    for happens, where in DAMAGE:
        made = environments.ready(WANTED, this())
        assert made.receipt is not None
        site = Path(made.receipt.package).parent
        happens(made.folder / where.format(site=site))
        said.clear()

        again = environments.ready(WANTED, this())

        assert is_whole(again), where
        assert find("9.8.7", store).digest == digest
        assert [line for line in said if line.startswith("the environment of Triton 9.8.7") or where == "."], where


def test_a_damaged_one_that_cannot_be_made_again_is_refused(
    environments: Environments, store: Store, make_wheel: MakeWheel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wheels, "PYTHONS", ("3.11",))
    wheel = make_wheel()
    made = environments.ready(WANTED, this())
    assert made.receipt is not None
    _truncate(made.folder / made.receipt.package / "_C" / "libtriton.so")
    wheel.unlink()

    for _ in range(2):
        with pytest.raises(EnvironmentProblem, match=r"there is no wheel of Triton 9\.8\.7"):
            find("9.8.7", store)


@pytest.mark.usefixtures("unpack")
def test_what_was_asked_for_besides_triton_survives_a_repair(
    environments: Environments, make_wheel: MakeWheel, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_wheel()
    installed: list[list[str]] = []
    real = installers.install
    monkeypatch.setattr(
        installers, "install", lambda python, wanted: (installed.append(wanted), real(python, wanted[:1]))[1]
    )

    made, _ = environments.add(Wanted("9.8.7", ("friend",)), this())
    (made.folder / "pyvenv.cfg").unlink()
    environments.ready(WANTED, this())
    _, is_new = environments.add(Wanted("9.8.7", ("another",)), this())

    assert is_new
    assert [wanted[1:] for wanted in installed] == [["friend"], ["friend"], ["friend", "another"]]


@pytest.mark.usefixtures("unpack")
def test_what_is_not_installed_as_recorded_is_no_environment(
    environments: Environments, make_wheel: MakeWheel, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_wheel()
    real = installers.install

    def install(python: str, requirements: list[str]) -> tuple[int, str]:
        done = real(python, requirements)
        _truncate(next(Path(python).parent.parent.rglob("libtriton.so")))
        return done

    monkeypatch.setattr(installers, "install", install)

    with pytest.raises(EnvironmentProblem, match=r"libtriton\.so was not installed as it should be"):
        environments.add(WANTED, this())
    assert environments.all() == []


@pytest.mark.usefixtures("unpack")
def test_those_that_make_the_same_one_at_once_wait_for_each_other(
    environments: Environments,
    home: Path,
    store: Store,
    make_wheel: MakeWheel,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    until: Callable[[Callable[[], object]], None],
) -> None:
    make_wheel()
    install = installers.install

    def saying(what: str) -> set[str]:
        lines = (tmp_path / "said").read_text().splitlines()
        return {pid for pid, line in (line.split(" ", 1) for line in lines) if line.startswith(what)}

    def install_when_the_others_wait(python: str, requirements: list[str]) -> tuple[int, str]:
        until(lambda: len(saying("waiting for another run")) == 2)
        return install(python, requirements)

    def make() -> None:
        with (tmp_path / "said").open("a", buffering=1) as said:
            say = lambda line: print(os.getpid(), line, file=said)  # noqa: E731
            assert Environments(home, store, say).ready(WANTED, this()).receipt

    monkeypatch.setattr(installers, "install", install_when_the_others_wait)

    assert list(map(ended, [fork(make) for _ in range(3)])) == [0, 0, 0]
    assert len(saying("creating")) == 1
    assert is_whole(environments.ready(WANTED, this()))


@pytest.mark.usefixtures("unpack")
def test_a_file_system_without_locks_does_without(
    environments: Environments, make_wheel: MakeWheel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsupported(file: object, how: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    make_wheel()
    monkeypatch.setattr("fcntl.flock", unsupported)

    assert is_whole(environments.ready(WANTED, this()))
    assert len(environments.remove("9.8.7", None)) == 1


@pytest.mark.usefixtures("unpack")
def test_what_a_run_compiles_with_is_not_taken_away(
    environments: Environments, home: Path, store: Store, make_wheel: MakeWheel
) -> None:
    make_wheel()
    made, _ = environments.add(WANTED, this())
    told, wait = os.pipe(), os.pipe()

    def run() -> None:
        Environments(home, store, print).ready(WANTED, this())
        os.write(told[1], b"!")
        os.read(wait[0], 1)
        assert is_whole(made)

    def remove() -> None:
        def say(line: str) -> None:
            assert line.startswith("waiting for another run")
            os.write(wait[1], b"!")

        assert len(Environments(home, store, say).remove("9.8.7", None)) == 1

    runner = fork(run)
    os.read(told[0], 1)
    remover = fork(remove)

    assert (ended(runner), ended(remover)) == (0, 0)
    assert not made.folder.exists()


def test_ctrl_c_stops_the_installer_and_leaves_nothing(
    environments: Environments,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    until: Callable[[Callable[[], object]], None],
) -> None:
    pid = tmp_path / "pid"
    shell = f"trap '' INT TERM; echo $$ > {pid}.new; mv {pid}.new {pid}; sleep 60"
    monkeypatch.setattr(installers, "install", lambda *_: installers.run(["sh", "-c", shell]))
    monkeypatch.setattr(wheels, "on_index", lambda *_: None)

    def make() -> None:
        with contextlib.suppress(KeyboardInterrupt):
            environments.add(WANTED, this())

    maker = fork(make)
    until(pid.exists)
    began = time.monotonic()
    os.kill(maker, signal.SIGINT)

    assert ended(maker) == 0
    assert time.monotonic() - began < 5
    assert not psutil.pid_exists(int(pid.read_text()))
    assert environments.all() == []


def test_an_installer_ends_with_a_tool_that_is_killed(
    tmp_path: Path, until: Callable[[Callable[[], object]], None]
) -> None:
    pid = tmp_path / "pid"
    shell = f"echo $$ > {pid}.new; mv {pid}.new {pid}; sleep 60"
    script = f"from portcheck.toolchain.installers import run\nrun(['sh', '-c', {shell!r}])"
    with subprocess.Popen([sys.executable, "-c", script]) as tool:
        until(pid.exists)
        tool.kill()

    until(lambda: not psutil.pid_exists(int(pid.read_text())))


@pytest.mark.usefixtures("unpack")
def test_an_environment_for_another_python_serves_where_this_one_has_none(
    environments: Environments, make_wheel: MakeWheel
) -> None:
    make_wheel()
    made, _ = environments.add(WANTED, this())
    other = made.folder.with_name("9.8.7-cp399")
    made.folder.rename(other)

    found = environments.ready(WANTED, this())

    assert found.folder == other


@pytest.mark.usefixtures("unpack")
def test_without_leave_nothing_is_made(environments: Environments, make_wheel: MakeWheel) -> None:
    make_wheel()

    with pytest.raises(EnvironmentProblem, match=r"is not there: make it with: portcheck env add 9\.8\.7"):
        environments.ready(WANTED, this(), create=False)
    assert environments.all() == []


@pytest.mark.usefixtures("unpack")
def test_a_wheel_is_known_by_its_content(environments: Environments, make_wheel: MakeWheel) -> None:
    first, is_new = environments.add(Wanted(str(make_wheel())), this())
    same, is_newer = environments.add(Wanted(str(make_wheel())), this())
    other, is_newest = environments.add(Wanted(str(make_wheel(more="print()"))), this())

    assert (is_new, is_newer, is_newest) == (True, False, True)
    assert first == same
    assert first.name.startswith("9.8.7-") and other.name.startswith("9.8.7-") and first.name != other.name


def test_a_wheel_for_another_python_says_for_which(environments: Environments, make_wheel: MakeWheel) -> None:
    with pytest.raises(EnvironmentProblem, match=r"not a supported wheel.*it is for cp27-none"):
        environments.add(Wanted(str(make_wheel(python="cp27"))), this())


@pytest.mark.usefixtures("unpack")
def test_removing_takes_all_pythons_or_one(environments: Environments, make_wheel: MakeWheel) -> None:
    make_wheel()
    made, _ = environments.add(WANTED, this())
    shutil.copytree(made.folder, made.folder.with_name("9.8.7-cp399"), symlinks=True)

    assert [gone.tag for gone in environments.remove("9.8.7", "cp399")] == ["cp399"]
    assert [gone.folder for gone in environments.remove("9.8.7", None)] == [made.folder]
    assert environments.all() == []


def test_a_home_that_cannot_be_read_is_one_line(environments: Environments) -> None:
    environments.folder.parent.mkdir()
    environments.folder.touch()

    for ask in (environments.all, lambda: environments.ready(WANTED, this()), lambda: environments.remove("1", None)):
        with pytest.raises(EnvironmentProblem, match=r"envs cannot be read: Not a directory; .*PORTCHECK_HOME"):
            ask()


def test_a_home_that_cannot_be_written_is_one_line(store: Store, tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(EnvironmentProblem, match="set PORTCHECK_HOME to a folder that you may write"):
        Environments(tmp_path / "file", store, print).add(WANTED, this())


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"PORTCHECK_HOME": "/p", "XDG_DATA_HOME": "/x", "HOME": "/h"}, "/p"),
        ({"PORTCHECK_HOME": "~/p", "HOME": "/h"}, "/h/p"),
        ({"XDG_DATA_HOME": "/x", "HOME": "/h"}, "/x/portcheck"),
        ({"XDG_DATA_HOME": "x", "HOME": "/h"}, "/h/.local/share/portcheck"),
    ],
)
def test_the_home_is_where_the_user_says(environ: dict[str, str], expected: str) -> None:
    assert home(environ) == Path(expected)


def test_without_a_home_a_folder_has_to_be_named() -> None:
    with pytest.raises(UsageError, match="set PORTCHECK_HOME"):
        home({})


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("3.0.0", ("setuptools",)),
        ("3.2.0", ("setuptools",)),
        ("3.3.0", ()),
        ("3.9.0", ()),
        ("triton-3.2.0+fix-cp311-cp311-linux_x86_64.whl", ("setuptools",)),
    ],
)
def test_what_old_releases_import_and_their_wheels_do_not_name_is_installed(
    given: str, expected: tuple[str, ...]
) -> None:
    assert Wanted(given).undeclared == expected

"""What there is to install, and what is said where there is nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from portcheck.errors import EnvironmentProblem, UsageError
from portcheck.toolchain import wheels
from portcheck.toolchain.interpreters import Interpreter
from tests.portcheck.toolchain.conftest import MakeWheel

PYTHON = Interpreter("/python", "3.13.0", False, ())
NO_WHEEL = (
    "ERROR: Could not find a version that satisfies the requirement triton==3.0.0 (from versions: 3.2.0, 3.9.0)\n"
    "ERROR: No matching distribution found for triton==3.0.0\n"
)


def test_pip_says_which_wheel_and_the_index_how_large(home: Path, make_wheel: MakeWheel) -> None:
    wheel = make_wheel()

    found = wheels.on_index("9.8.7", PYTHON)

    assert found == wheels.Wheel(wheel.name, wheel.stat().st_size)
    assert wheels.Wheel("w.whl", 3 << 20).described == "w.whl, 3.0 MiB, about 12.0 MiB on disk"


@pytest.mark.parametrize(
    ("with_wheel", "said", "told"),
    [
        (
            ["3.8", "3.12"],
            NO_WHEEL,
            "Triton 3.0.0 has no wheel for Python 3.13; Python 3.8 and 3.12 have one: "
            "portcheck env add 3.0.0 --python python3.12",
        ),
        (["3.12"], NO_WHEEL, "Python 3.12 has one: portcheck env add 3.0.0 --python python3.12"),
        ([], NO_WHEEL, "there is no wheel of Triton 3.0.0; there are 3.2.0, 3.9.0"),
        ([], NO_WHEEL.replace("3.2.0, 3.9.0", "none"), "pip finds none at all: check its index and the network"),
        ([], "ERROR: the disk is full\n", "pip cannot look for Triton 3.0.0: the disk is full; check its index"),
    ],
)
def test_what_is_not_there_says_where_it_is(
    with_wheel: list[str], said: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wheels, "_ask", lambda release, python: (0 if python in with_wheel else 1, said, None))

    with pytest.raises(EnvironmentProblem) as caught:
        wheels.on_index("3.0.0", PYTHON)

    assert told in str(caught.value)


def test_a_file_is_known_by_version_and_content(make_wheel: MakeWheel) -> None:
    identity = wheels.identity(make_wheel())

    assert identity.startswith("9.8.7-")
    assert wheels.identity(make_wheel()) == identity
    assert wheels.identity(make_wheel(more="1")) != identity


@pytest.mark.parametrize("name", ["triton.whl", "triton-3.9.0.whl", "triton-3.9.0-cp311.tar.gz"])
def test_another_name_is_none_of_a_wheel(name: str) -> None:
    with pytest.raises(UsageError, match="not the name of a wheel"):
        wheels.version_of(Path(name))


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("triton-3.9.0-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl", "3.9.0"),
        ("triton-3.9.0+git1a2b-cp311-cp311-linux_x86_64.whl", "3.9.0+git1a2b"),
        ("pytorch_triton-3.9.0.dev1-1build-cp312-abi3-linux_x86_64.whl", "3.9.0.dev1"),
    ],
)
def test_a_wheel_s_name_gives_its_version(name: str, version: str) -> None:
    assert wheels.version_of(Path(name)) == version


def test_a_file_that_is_no_archive_is_damaged(tmp_path: Path) -> None:
    (tmp_path / "triton-1.0-py3-none-any.whl").write_text("no zip")

    with pytest.raises(UsageError, match="is damaged"):
        wheels.in_file(tmp_path / "triton-1.0-py3-none-any.whl")

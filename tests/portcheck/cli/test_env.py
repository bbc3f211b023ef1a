"""`portcheck env`: what it prints, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from portcheck.cli.main import main
from portcheck.toolchain import find
from tests.portcheck.toolchain.conftest import MakeWheel, home, make_wheel, unpack

__all__ = ["home", "make_wheel", "unpack"]


@pytest.fixture(autouse=True)
def cache(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache and a portcheck home of the test's own."""
    monkeypatch.setenv("PORTCHECK_CACHE", str(tmp_path / "cache"))


@pytest.mark.usefixtures("unpack")
def test_an_environment_appears_is_listed_and_vanishes(
    home: Path, make_wheel: MakeWheel, capsys: pytest.CaptureFixture[str]
) -> None:
    make_wheel()

    assert main(["env", "add", "9.8.7"]) == 0
    (folder,) = (path for path in (home / "envs").iterdir() if path.is_dir())
    made = capsys.readouterr().out.splitlines()
    assert made[0].startswith("creating the environment of Triton 9.8.7 for Python 3.")
    assert made[0].endswith("triton-9.8.7.whl, 1000 B, about 3.9 KiB on disk")
    assert made[1].startswith(f"{folder} made in ") and made[1].endswith(" on disk")

    assert main(["env", "add", "9.8.7"]) == 0
    assert capsys.readouterr().out.startswith(f"{folder} is there already: ")

    assert main(["env", "list"]) == 0
    assert capsys.readouterr().out.split()[:2] == ["9.8.7", "Python"]

    (folder / "pyvenv.cfg").unlink()
    assert main(["env", "list"]) == 0
    assert "is not as it was made: files beside Triton have changed" in capsys.readouterr().out

    assert main(["env", "remove", "9.8.7"]) == 0
    assert capsys.readouterr().out.startswith(f"{folder} is removed: ")
    assert not folder.exists()

    assert main(["env", "list"]) == 0
    assert capsys.readouterr().out.startswith("no environments in ")


@pytest.mark.usefixtures("unpack")
def test_a_venv_is_used_as_it_is(make_wheel: MakeWheel, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_wheel()
    main(["env", "add", "9.8.7"])
    (venv,) = (path for path in (home / "envs").iterdir() if path.is_dir())
    capsys.readouterr()

    assert main(["env", "add", str(venv)]) == 0
    assert f"check --triton {venv} uses it as it is" in capsys.readouterr().out
    find._stands_for.clear()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["add", "3.8"], "write current, a release such as 3.8.0"),
        (["add", "current"], "needs no environment"),
        (["add", "./nowhere"], "neither a release nor a wheel"),
        (["add", "./triton.whl"], "not the name of a wheel"),
        (["add", "./triton-1.0-py3-none-any.whl"], "No such file"),
        (["add", "3.8.0", "--python", "no-such-python"], "no such Python"),
        (["add", "."], "no virtual environment"),
        (["add", ".", "--with", "numpy"], "leave out --with"),
        (["remove", "."], "remove it yourself"),
        (["remove", "3.8.0"], "no environment of 3.8.0: there are none"),
    ],
)
def test_what_cannot_be_is_one_line_and_status_2(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    assert main(["env", *arguments]) == 2

    printed = capsys.readouterr()
    assert printed.out == ""
    assert said in printed.err
    assert printed.err.startswith("portcheck: ") and printed.err.count("\n") == 1

"""Telling whether what an import read is still the same."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from portcheck.inputs import Inputs
from portcheck.stats import stat_of


@pytest.mark.parametrize("change", ["edit", "touch", "delete", "replace", "copy with times"])
def test_a_change_after_reading_is_noticed(tmp_path: Path, change: str) -> None:
    path = tmp_path / "kernels.py"
    path.write_text("one")
    inputs = Inputs((), {str(path): stat_of(str(path))})
    assert inputs.unchanged()

    if change == "edit":
        path.write_text("two!")
    elif change == "touch":
        os.utime(path, ns=(0, 0))
    elif change == "delete":
        path.unlink()
    else:
        stat = path.stat()
        path.with_name("new.py").write_text("two")
        if change == "copy with times":
            os.utime(path.with_name("new.py"), ns=(stat.st_atime_ns, stat.st_mtime_ns))
        path.with_name("new.py").replace(path)

    assert not inputs.unchanged()


def test_a_file_that_appears_is_noticed(tmp_path: Path) -> None:
    path = str(tmp_path / "tuning.json")
    inputs = Inputs((), {path: stat_of(path)})
    assert inputs.unchanged()

    Path(path).touch()

    assert not inputs.unchanged()


def test_what_is_unfit_never_counts_as_unchanged() -> None:
    assert Inputs((), {}).unchanged()
    assert not Inputs((), {}, fit=False).unchanged()

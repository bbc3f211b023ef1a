"""No report is written over what the run reads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from portcheck.errors import UsageError
from portcheck.rules.run import Run

MakeRun = Callable[..., Run]


@pytest.mark.parametrize(
    ("file", "what"),
    [
        ("portcheck.toml", "the manifest"),
        ("portcheck.lock", "the lock"),
        ("kernels.py", "the source of copy"),
        ("sub/../kernels.py", "the source of copy"),
        ("known.toml", "the baseline"),
        ("other.py", "a Python file"),
    ],
)
def test_what_is_read_is_spared(make_run: MakeRun, tmp_path: Path, file: str, what: str) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "other.py").write_text("precious")
    (tmp_path / "known.toml").write_text('schema = "portcheck-baseline/1"\n')

    with pytest.raises(UsageError) as refused:
        make_run(reports={"json": tmp_path / file}, baseline=tmp_path / "known.toml")

    assert f"{what}, and would be lost: name another file" in str(refused.value)


def test_what_is_not_read_may_be_written(make_run: MakeRun, tmp_path: Path) -> None:
    assert make_run(reports={"json": tmp_path / "report.json"}).cells

"""References to functions."""

from __future__ import annotations

from pathlib import Path

import pytest

from portcheck.errors import UsageError
from portcheck.manifest.model import KernelRef
from portcheck.manifest.references import parse_function, parse_reference


def test_modules_and_files(tmp_path: Path) -> None:
    (tmp_path / "a:b.py").write_text("")
    assert parse_reference(tmp_path, "pkg.mod:K.run") == KernelRef("pkg.mod", None, "K.run")
    assert parse_reference(tmp_path, "a:b.py:run") == KernelRef(None, "a:b.py", "run")


@pytest.mark.parametrize("written", ["", ":", "mod:", ":f", "mod.:f", "mod:f()", "a-b:f", "file.py", "mod:f:g"])
def test_malformed_references(tmp_path: Path, written: str) -> None:
    with pytest.raises(UsageError, match="malformed reference"):
        parse_reference(tmp_path, written)
    with pytest.raises(UsageError, match="malformed reference"):
        parse_function(written)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "ops.py").mkdir()
    with pytest.raises(UsageError, match=r'missing file "ops\.py"'):
        parse_reference(tmp_path, "ops.py:f")

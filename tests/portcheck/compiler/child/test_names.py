"""Portable file names: the same in every checkout."""

from __future__ import annotations

from pathlib import Path

import pytest

from portcheck.compiler.child.names import Names


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/home/me/project/kernels.py", "kernels.py"),
        ("/home/me/project/sub/kernels.py", "sub/kernels.py"),
        ("/home/me/shared/kernels.py", "../shared/kernels.py"),
        ("/usr/lib/python3/dist-packages/package/module.py", "dist/package/module.py"),
        ("/home/me/project/.venv/lib/python3.11/site-packages/package/module.py", "dist/package/module.py"),
        ("/venv/lib/site-packages/a/site-packages/b.py", "dist/b.py"),
        ("already/portable.py", "already/portable.py"),
        ("<string>", "<string>"),
    ],
)
def test_names_in_a_project(path: str, name: str) -> None:
    assert Names("/home/me/project").portable(path) == name


def test_a_manifest_that_is_itself_installed() -> None:
    names = Names("/venv/lib/python3.11/site-packages/package/demo")

    assert names.portable("/venv/lib/python3.11/site-packages/package/demo/kernels.py") == "kernels.py"
    assert names.portable("/venv/lib/python3.11/site-packages/package/other.py") == "dist/package/other.py"


def test_a_folder_that_is_reached_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")

    assert Names(str(tmp_path / "link")).portable(str(tmp_path / "real" / "kernels.py")) == "kernels.py"

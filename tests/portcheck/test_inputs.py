"""Files that were read: portable names, contents, and whether they changed."""

from __future__ import annotations

import os
import sys
import sysconfig
import time
from pathlib import Path

import pytest

from portcheck.inputs import Files


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a source file."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "kernels.py").write_text("one")
    return folder


@pytest.fixture
def files(project: Path, tmp_path: Path) -> Files:
    """The files of that folder, with one folder of installed packages."""
    return Files(project, [tmp_path / "lib" / "site-packages"], tmp_path / "lib" / "site-packages" / "triton")


def test_names_are_portable_and_lead_back(files: Files, project: Path, tmp_path: Path) -> None:
    package = tmp_path / "lib" / "site-packages" / "package" / "module.py"
    package.parent.mkdir(parents=True)
    package.touch()
    outside = tmp_path / "shared.py"
    paths = [str(project / "kernels.py"), str(package), str(outside)]

    named = files.named(paths)

    assert named == dict(zip(["kernels.py", "dist/package/module.py", "../shared.py"], paths, strict=True))
    assert files.locate(named) == named


def test_triton_and_the_standard_library_are_covered_elsewhere(files: Files, tmp_path: Path) -> None:
    triton = tmp_path / "lib" / "site-packages" / "triton" / "__init__.py"

    assert files.named([str(triton), os.__file__, sysconfig.__file__]) == {}


def test_contents_are_digests_and_a_missing_file_is_none(files: Files, project: Path) -> None:
    paths = {"kernels.py": str(project / "kernels.py"), "gone.py": str(project / "gone.py")}

    first = files.read(paths)
    (project / "kernels.py").write_text("two")
    second = files.read(paths)

    assert first.contents["gone.py"] is None
    assert first.contents["kernels.py"] != second.contents["kernels.py"]


@pytest.mark.parametrize("change", ["edit", "touch", "delete", "replace"])
def test_a_change_after_reading_is_noticed(files: Files, project: Path, change: str) -> None:
    path = project / "kernels.py"
    inputs = files.read({"kernels.py": str(path)})
    assert inputs.unchanged()

    if change == "edit":
        path.write_text("two")
    elif change == "touch":
        os.utime(path, ns=(0, 0))
    elif change == "delete":
        path.unlink()
    else:
        path.with_name("new.py").write_text("one")
        path.with_name("new.py").replace(path)

    assert not inputs.unchanged()


def test_a_file_that_appears_is_noticed(files: Files, project: Path) -> None:
    inputs = files.read({"tuning.json": str(project / "tuning.json")})
    (project / "tuning.json").touch()

    assert not inputs.unchanged()


def test_a_file_written_while_it_was_imported_is_not_stable(files: Files, project: Path) -> None:
    paths = {"kernels.py": str(project / "kernels.py")}
    after = (project / "kernels.py").stat().st_ctime

    assert not files.read(paths, since=after - 1).unchanged()
    assert files.read(paths, since=after + 1).unchanged()
    os.utime(project / "kernels.py", ns=(0, 0))  # as a copy that keeps times does
    assert not files.read(paths, since=after - 1).unchanged()


def test_a_file_from_the_future_does_not_count_as_written_just_now(files: Files, project: Path) -> None:
    future = int(time.time() + 3600) * 10**9
    os.utime(project / "kernels.py", ns=(future, future))

    assert files.read({"kernels.py": str(project / "kernels.py")}, since=time.time() + 1).stable


def test_a_name_that_leads_elsewhere_cannot_be_found(files: Files, project: Path, tmp_path: Path) -> None:
    hidden = tmp_path / "other" / "site-packages" / "package" / "module.py"
    hidden.parent.mkdir(parents=True)
    hidden.write_text("not in a folder that the tool knows")

    assert files.can_find(files.read(files.named([str(project / "kernels.py")])))
    assert not files.can_find(files.read(files.named([str(hidden)])))


def test_a_file_under_a_link_is_named_by_where_it_is(project: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(project)
    files = Files(link, [], Path(sys.prefix) / "triton")

    named = files.named([str(link / "kernels.py")])

    assert list(named) == ["kernels.py"]
    assert files.can_find(files.read(named))

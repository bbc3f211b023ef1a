"""From the arguments of `portcheck check` to a request."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import pytest

from portcheck.cli import check
from portcheck.demo import MANIFEST
from portcheck.errors import UsageError
from portcheck.rules.request import Request
from portcheck.suite import Selection


def request(*arguments: str) -> Request:
    """What `portcheck check ARGUMENTS` asks for."""
    parser = argparse.ArgumentParser()
    check.add_parser(parser.add_subparsers())
    return check._request(parser.parse_args(["check", *arguments]))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, below one with a manifest."""
    (tmp_path / "portcheck.toml").touch()
    (tmp_path / "deep").mkdir()
    monkeypatch.chdir(tmp_path / "deep")
    return tmp_path


def test_without_arguments_it_is_the_nearest_manifest_and_all_of_it(folder: Path) -> None:
    asked = request()

    assert asked.manifest == folder / "portcheck.toml"
    assert asked.selection == Selection()
    assert (asked.jobs, asked.isolation, asked.force, asked.max_failures) == (os.cpu_count(), "fork", False, None)


def test_lists_may_be_given_with_commas_or_again() -> None:
    asked = request("-t", "cuda:80, cuda:90", "-t", "hip:*", "--triton", "current,3.8.0", "-k", "a[b,c]", "-k", "d")

    assert asked.selection.targets == ("cuda:80", "cuda:90", "hip:*")
    assert asked.selection.triton == ("current", "3.8.0")
    assert asked.selection.kernels == ("a[b,c]", "d")


def test_limits() -> None:
    asked = request("--timeout", "2.5", "--max-rss", "512MiB", "--max-failures", "3")

    assert (asked.selection.timeout, asked.selection.max_rss, asked.max_failures) == (2.5, 512 << 20, 3)
    assert request("-x").max_failures == 1


def test_the_demo_brings_its_manifest() -> None:
    assert request("--demo").manifest == MANIFEST
    with pytest.raises(UsageError, match="leave out one of the two"):
        request("--demo", "portcheck.toml")


def test_a_folder_is_no_manifest(folder: Path) -> None:
    with pytest.raises(UsageError, match=f"is a folder: name the manifest in it, for example {folder}/portcheck.toml"):
        request(str(folder))


@pytest.mark.parametrize("arguments", [("-j", "0"), ("--max-failures", "0"), ("--timeout", "-1"), ("--timeout", "nan")])
def test_numbers_that_make_no_sense(arguments: tuple[str, str]) -> None:
    with pytest.raises(UsageError, match=arguments[0].replace("-j", "--jobs")):
        request(*arguments)


@pytest.mark.parametrize("arguments", [("-t", ""), ("-t", ","), ("--triton", " "), ("--since", "")])
def test_an_empty_list_is_not_all(folder: Path, arguments: tuple[str, str]) -> None:
    with pytest.raises(UsageError, match=f"^{arguments[0]}: names no"):
        request(*arguments)


def test_files_that_could_not_be_written_are_refused_first(folder: Path) -> None:
    (folder / "file").touch()
    for arguments, said in (
        (("--json", "-"), "/dev/stdout is standard output"),
        (("--json", str(folder)), "is a folder"),
        (("--json", str(folder / "no" / "report.json")), f"there is no folder {folder}/no"),
        (("--save-ir", str(folder / "file")), "is a file: name a folder"),
    ):
        with pytest.raises(UsageError, match=said):
            request(*arguments)

    asked = request("--json", "/dev/stdout", "--save-ir", str(folder / "new"))
    assert asked.reports == {"json": Path("/dev/stdout")}

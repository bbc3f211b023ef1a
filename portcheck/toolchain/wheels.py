"""Wheels of Triton: what an index offers for a release, which Pythons have one, and what a file's name says.

pip is asked, so that its configuration decides where to look.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
import urllib.error
import urllib.request
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import xxhash

from portcheck.errors import EnvironmentProblem, UsageError
from portcheck.sizes import format_size
from portcheck.toolchain.installers import last_error, pip, run
from portcheck.toolchain.interpreters import Interpreter

# Python 3.8 to 3.15: a version without any release costs a question, and only when there is no wheel for this one.
PYTHONS = tuple(f"3.{minor}" for minor in range(8, 16))
_AT_ONCE = 4
_UNPACKS_TO = 4  # times its size: 3.8.0 has 248 MB and unpacks to 936
_PATIENCE = 10.0  # seconds to wait for a size
_NAME = re.compile(r"(?P<name>[^-]+)-(?P<version>[^-]+)(-\d[^-]*)?-(?P<python>[^-]+)-(?P<abi>[^-]+)-[^-]+\.whl")
_NONE = "No matching distribution found"
_VERSIONS = re.compile(r"\(from versions: (.*)\)")


@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel, here or on an index."""

    name: str  # of the file
    size: int | None  # bytes; None: the index does not say
    unpacked: int | None = None  # bytes, where the wheel is at hand

    @property
    def described(self) -> str:
        """Its size, and what it will take on disk."""
        if self.size is None:
            return f"{self.name}, of unknown size"
        on_disk = self.unpacked or self.size * _UNPACKS_TO
        return f"{self.name}, {format_size(self.size)}, about {format_size(on_disk)} on disk"


def on_index(release: str, python: Interpreter) -> Wheel | None:
    """The wheel of a release that pip would install for `python`; None if pip is not there to be asked.

    Raises:
        EnvironmentProblem: there is none; the message says which Pythons have one. Or the index cannot be asked.
    """
    try:
        status, said, report = _ask(release, python.version)
    except EnvironmentProblem:  # no pip; uv will do without this
        return None
    if status:
        raise EnvironmentProblem(_why_not(release, python, said))
    url = report["install"][0]["download_info"]["url"]
    return Wheel(Path(unquote(urlsplit(url).path)).name, _size(url))


def in_file(path: Path) -> Wheel:
    """A wheel that is at hand.

    Raises:
        UsageError: it is not there, or is no wheel.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return Wheel(path.name, path.stat().st_size, sum(entry.file_size for entry in archive.infolist()))
    except zipfile.BadZipFile:
        raise UsageError(f"{path} is damaged: it is no zip archive, as a wheel is: fetch or build it again") from None
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}: name a wheel that is there") from None


def identity(path: Path) -> str:
    """What a wheel is known by, whatever it is called: its version and its content.

    Raises:
        UsageError: it is not there, or has not the name of a wheel.
    """
    version = version_of(path)
    try:
        with path.open("rb") as file:
            return f"{version}-{hashlib.file_digest(file, xxhash.xxh3_128).hexdigest()[:12]}"
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}: name a wheel that is there") from None


def version_of(wheel: Path) -> str:
    """The version that a wheel's name gives.

    Raises:
        UsageError: it is not the name of a wheel.
    """
    match = _NAME.fullmatch(wheel.name)
    if match is None:
        raise UsageError(
            f"{wheel}: not the name of a wheel: keep the one it was built with, NAME-VERSION-PYTHON-ABI-PLATFORM.whl"
        )
    return match["version"]


def pythons_of(wheel: Path) -> str:
    """The Pythons that a wheel's name gives, as it writes them: `cp311-cp311`."""
    match = _NAME.fullmatch(wheel.name)
    return f"{match['python']}-{match['abi']}" if match else "another Python"


def _ask(release: str, python: str) -> tuple[int, str, Any]:
    """pip's exit status, what it printed, and its report of what it would install for a Python version."""
    question = ["install", "--dry-run", "--quiet", "--no-input", "--ignore-installed", "--no-deps"]
    with tempfile.TemporaryDirectory(prefix="portcheck-pip-") as folder:
        report = Path(folder, "report.json")
        flags = ["--only-binary", ":all:", "--python-version", python, "--target", folder, "--report", str(report)]
        status, said = run([*pip(), *question, *flags, f"triton=={release}"])
        return status, said, None if status else json.loads(report.read_text())


def _why_not(release: str, python: Interpreter, said: str) -> str:
    if _NONE not in said:
        return f"pip cannot look for Triton {release}: {last_error(said)}; check its index and the network"
    if versions := _with_wheel(release):
        which = f"Python {' and '.join([', '.join(versions[:-1]), versions[-1]] if versions[1:] else versions)}"
        verb = "have one" if versions[1:] else "has one"
        return (
            f"Triton {release} has no wheel for Python {python.minor}; {which} {verb}: "
            f"portcheck env add {release} --python python{versions[-1]}"
        )
    found = _VERSIONS.search(said)
    listed = found[1] if found and found[1] != "none" else None
    there = f"there are {listed}" if listed else "pip finds none at all: check its index and the network"
    return f"there is no wheel of Triton {release}; {there}"


def _with_wheel(release: str) -> list[str]:
    """The Python versions that a release has a wheel for."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        answers = pool.map(lambda version: _ask(release, version)[0], PYTHONS)
        return [version for version, status in zip(PYTHONS, answers, strict=True) if status == 0]


def _size(url: str) -> int | None:
    parts = urlsplit(url)
    try:
        if parts.scheme == "file":
            return os.stat(urllib.request.url2pathname(parts.path)).st_size  # noqa: PTH116
        request = urllib.request.Request(url, method="HEAD")
        with urllib.request.urlopen(request, timeout=_PATIENCE) as answer:
            return int(answer.headers["Content-Length"])
    except (OSError, ValueError, TypeError, urllib.error.URLError):
        return None

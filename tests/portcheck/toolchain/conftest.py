"""Wheels of a Triton that is tiny, and a portcheck home to install them in."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from portcheck.cache import Store
from portcheck.toolchain import find, installers, wheels
from portcheck.toolchain.environments import Environments
from portcheck.toolchain.wheels import Wheel

MakeWheel = Callable[..., Path]


@pytest.fixture
def make_wheel(tmp_path: Path) -> MakeWheel:
    """`make_wheel("9.8.7", name=content)`: a wheel with these modules besides what it has to have."""

    def make(version: str = "9.8.7", *, python: str = "py3", **files: str) -> Path:
        info = f"triton-{version}.dist-info"
        contents = {
            "triton/__init__.py": f"__version__ = '{version}'\n",
            "triton/_C/libtriton.so": "the compiler",
            **{f"triton/{name}.py": text for name, text in files.items()},
            f"{info}/METADATA": f"Metadata-Version: 2.1\nName: triton\nVersion: {version}\n",
            f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: {python}-none-any\n",
        }
        record = [f"{name},{_hash(text)},{len(text)}" for name, text in contents.items()]
        folder = tmp_path / "wheels"
        folder.mkdir(exist_ok=True)
        wheel = folder / f"triton-{version}-{python}-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            for name, text in {**contents, f"{info}/RECORD": "\n".join([*record, f"{info}/RECORD,,"])}.items():
                archive.writestr(zipfile.ZipInfo(name), text)  # of 1980: the same content is the same file
        return wheel

    return make


def _hash(text: str) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty portcheck home, in which releases come from the folder of `make_wheel` and from no index."""
    home = tmp_path / "home"
    monkeypatch.setenv("PORTCHECK_HOME", str(home))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    monkeypatch.setenv("UV_NO_INDEX", "1")
    monkeypatch.setenv("UV_FIND_LINKS", str(tmp_path / "wheels"))
    monkeypatch.setattr(find, "_stands_for", {})
    return home


@pytest.fixture
def unpack(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Wheels are only unpacked where pip would be asked and would install them, which takes ten times as long."""

    def install(python: str, requirements: list[str]) -> tuple[int, str]:
        site = next(Path(python).parent.parent.glob("lib/python*/site-packages"))
        name = requirements[0].replace("==", "-")
        wheel = requirements[0] if name.endswith(".whl") else f"{tmp_path}/wheels/{name}-py3-none-any.whl"
        return installers.run([python, "-m", "zipfile", "-e", wheel, str(site)])

    monkeypatch.setattr(installers, "install", install)
    monkeypatch.setattr(wheels, "on_index", lambda release, python: Wheel(f"triton-{release}.whl", 1000))


@pytest.fixture
def said() -> list[str]:
    """What the environments of this test said."""
    return []


@pytest.fixture
def environments(home: Path, store: Store, said: list[str]) -> Environments:
    """The environments of the home."""
    return Environments(home, store, said.append)

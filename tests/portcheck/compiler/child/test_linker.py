"""The linker for AMD that Triton up to 3.4 does not bring along."""

from __future__ import annotations

from pathlib import Path

import pytest

from portcheck.compiler.child import linker

WORKS = "#!/bin/sh\necho LLD 19.1.7\n"
FAILS = "#!/bin/sh\necho 'lld is a generic driver' >&2\nexit 1\n"


def program(path: Path, text: str = WORKS) -> str:
    """An executable script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


class Backend:
    """Triton's AMD backend as far as it finds a linker."""

    found: str | None = None

    @staticmethod
    def path_to_rocm_lld() -> Path:
        if Backend.found is None:
            raise Exception("ROCm linker /opt/rocm/llvm/bin/ld.lld not found")
        return Path(Backend.found)


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> type[Backend]:
    """A backend that finds nothing, on a machine without a linker."""
    monkeypatch.setattr(linker, "_SYSTEM", ())
    monkeypatch.setattr(linker, "_checked", {})
    monkeypatch.setattr(linker, "_used", [])
    monkeypatch.setattr(linker, "_find_as_triton", Backend.path_to_rocm_lld)
    monkeypatch.setattr(Backend, "path_to_rocm_lld", Backend.path_to_rocm_lld)
    monkeypatch.setattr(Backend, "found", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    return Backend


def test_it_is_looked_for_where_triton_looks_and_then_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named, inside = program(tmp_path / "named"), program(tmp_path / "triton/backends/amd/llvm/bin/ld.lld")
    system, on_path = program(tmp_path / "usr/ld.lld"), program(tmp_path / "bin/ld.lld")
    monkeypatch.setattr(linker, "_SYSTEM", (system,))
    environ = {"TRITON_HIP_LLD_PATH": named, "PATH": str(tmp_path / "bin")}
    found = []
    for gone in (named, inside, system, on_path):
        found.append(linker.find(str(tmp_path / "triton"), environ))
        Path(gone).unlink()

    assert [*found, linker.find(str(tmp_path / "triton"), environ)] == [named, inside, system, on_path, None]


def test_none_at_all_is_told_with_what_to_do(backend: type[Backend]) -> None:
    with pytest.raises(linker.Missing) as told:
        linker.provide(backend, "3.2.0")

    assert str(told.value) == (
        "ld.lld not found, with which Triton 3.2.0 links for AMD: "
        "install LLVM's lld (Debian, Ubuntu: apt install lld), or set TRITON_HIP_LLD_PATH to an ld.lld"
    )
    assert linker.used() is None


def test_one_that_does_not_work_is_told(backend: type[Backend], tmp_path: Path) -> None:
    backend.found = program(tmp_path / "lld", FAILS)

    with pytest.raises(linker.Missing, match=r"does not work \(.*/lld: lld is a generic driver\)"):
        linker.provide(backend, "3.2.0")


def test_the_one_on_the_path_is_given_to_triton(backend: type[Backend], tmp_path: Path) -> None:
    found = program(tmp_path / "ld.lld")

    linker.provide(backend, "3.2.0")

    assert str(backend.path_to_rocm_lld()) == found
    assert str(linker.used()).startswith("sha256 ")

"""What a Triton supports, as far as no Triton is needed to tell."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from portcheck.compiler.child import tables
from portcheck.compiler.child.releases import release


def test_a_process_that_dies_makes_its_target_unsupported(tmp_path: Path) -> None:
    (tmp_path / "7.out").write_text("LLVM ERROR: PTX version 8.8 does not support target 'sm_88'.\n")

    told = tables._outcome(str(tmp_path / "7"), 1)

    assert told["compiles"] is False
    assert told["printed"].startswith("LLVM ERROR")
    assert told["text"] == "its process ended with status 1"


def test_a_target_compiles_if_its_process_says_so(tmp_path: Path) -> None:
    (tmp_path / "7.out").touch()
    (tmp_path / "7.json").write_text('{"type": null, "text": ""}')

    assert tables._outcome(str(tmp_path / "7"), 0)["compiles"] is True


def test_fp8_types_are_a_list_or_flags() -> None:
    listed = SimpleNamespace(supported_fp8_dtypes=("fp8e5", "fp8e4nv"))
    flags = SimpleNamespace(allow_fp8e4nv=True, allow_fp8e4b15=False, allow_other=True)

    assert tables._fp8(listed) == ["fp8e4nv", "fp8e5"]
    assert tables._fp8(flags) == ["fp8e4nv"]
    assert tables._fp8(None) == []


def test_every_release_is_asked_for_ptxas_in_its_own_way() -> None:
    by_name = {"_path_to_binary": lambda name: (f"/bin/{name}", "12.4")}
    by_arch = {"get_ptxas": lambda arch: (f"/bin/ptxas-{arch}", "12.4")}
    tool = {"get_ptxas": lambda: SimpleNamespace(path="/bin/ptxas")}
    tool_by_arch = {"get_ptxas": lambda arch: SimpleNamespace(path=f"/bin/ptxas-{arch}")}

    assert release("3.0.0").ptxas(by_name, 90) == "/bin/ptxas"
    assert release("3.3.1").ptxas(by_arch, 90) == "/bin/ptxas-90"
    assert release("3.5.1").ptxas(tool, 90) == "/bin/ptxas"
    assert release("3.9.0").ptxas(tool_by_arch, 90) == "/bin/ptxas-90"

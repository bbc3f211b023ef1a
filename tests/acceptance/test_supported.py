"""`portcheck targets`, asked of the Triton that is installed here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from portcheck.compiler.tables import ask
from portcheck.errors import EnvironmentProblem
from portcheck.toolchain.model import Toolchain
from tests.conftest import Project


def test_triton_says_what_it_supports(project: Project) -> None:
    status, out, err = project.portcheck("targets", "--json")
    assert status == 0, err
    told = json.loads(out)
    targets = {one["target"]: one for one in told["targets"]}

    # As seen with Triton 3.9.0.
    assert targets["cuda:90"]["compiles"] and targets["hip:gfx942"]["compiles"]
    assert targets["cuda:121"]["compiles"], "ptxas lists it, and so nobody else has to"
    assert targets["hip:gfx1030"]["trouble"] == "unsupported target: 'gfx1030'"
    assert targets["cuda:80"]["fp8"] == ["fp8e4b15", "fp8e5"]
    assert targets["cuda:89"]["fp8"] == ["fp8e4b15", "fp8e4nv", "fp8e5"]
    assert [targets[name]["warp_size"] for name in ("cuda:90", "hip:gfx942", "hip:gfx1100")] == [32, 64, 32]
    functions = {backend: told["libdevice"][backend]["functions"] for backend in ("cuda", "hip")}
    assert "tgamma" in functions["cuda"] and "tgamma" not in functions["hip"]
    assert told["llvm"] and told["ptxas"]["ptxas"]


def test_a_triton_that_cannot_be_asked_is_the_environment_s_fault(toolchain: Toolchain, tmp_path: Path) -> None:
    nowhere = Toolchain("3.9.0", "3.11.7", "digest", toolchain.executable, tmp_path / "triton")

    with pytest.raises(EnvironmentProblem, match="another Triton is imported before the one in"):
        ask(nowhere)


def test_a_release_that_is_none_is_a_mistake(project: Project) -> None:
    status, _, err = project.portcheck("targets", "--triton", "latest")

    assert status == 2
    assert err.count("\n") == 1 and 'unknown release "latest"' in err

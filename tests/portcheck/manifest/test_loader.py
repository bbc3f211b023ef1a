"""Finding and loading manifests: the whole of the documented format, and both of its homes."""

from __future__ import annotations

from pathlib import Path

import pytest

from portcheck.errors import UsageError
from portcheck.manifest.loader import find_manifest, load
from portcheck.manifest.model import Argument, CacheSettings, Expectation, KernelRef
from portcheck.target import Target

WHOLE = """
[defaults]
targets = ["cuda:80", "hip:gfx942"]
triton = ["current", "3.8.0", "./wheels/triton.whl"]
timeout = 120.5
max_rss = "4GiB"
launch_limits = "warn"
xfail_strict = true
autotune = "all"
configs = "sample:4"
env = { FLA_USE_TMA = "0" }
setup = "mypkg.ci:before_import"

[cache]
dir = "cells"
remote = "file:///mnt/team/portcheck"
read = ["main", "pr"]
write = ""
salt = "2"
sign = "PORTCHECK_SIGNING_KEY"
max_size = "1GiB"

[[kernel]]
name = "attention"
target = "mypkg.kernels:attention"
signature = { q_ptr = "*fp16:16", seq_len = "i32:16" }
constants = { BLOCK = 64, DTYPE = { dtype = "fp16" }, ACT = { jit = "mypkg.kernels:silu" } }
options = { num_warps = 8, num_stages = 3 }
options_hip = { waves_per_eu = 2, num_stages = 2 }
targets = ["cuda:90", "hip:gfx942"]
skip = ["hip:*"]
timeout = 600
env = { OTHER = "1" }
xfail = ["hip:gfx1100", { target = "cuda:*", triton = "<3.9", reason = "reported" }]
"""


def test_everything_that_a_manifest_can_say(tmp_path: Path) -> None:
    path = tmp_path / "portcheck.toml"
    path.write_text(WHOLE)
    manifest = load(path)
    (row,) = manifest.rows

    assert manifest.folder == tmp_path
    assert manifest.defaults.targets == (Target("cuda", "80"), Target("hip", "gfx942"))
    assert manifest.defaults.triton == ("current", "3.8.0", "./wheels/triton.whl")
    assert (manifest.defaults.timeout, manifest.defaults.max_rss) == (120.5, 4 << 30)
    assert (manifest.defaults.launch_limits, manifest.defaults.xfail_strict) == ("warn", True)
    assert (manifest.defaults.autotune, manifest.defaults.configs) == ("all", "sample:4")
    assert manifest.defaults.setup == "mypkg.ci:before_import"
    assert manifest.cache == CacheSettings(
        "cells", "file:///mnt/team/portcheck", ("main", "pr"), "", "2", "PORTCHECK_SIGNING_KEY", 1 << 30
    )
    assert row.name == "attention"
    assert row.where == 'portcheck.toml: kernel "attention"'
    assert row.ref == KernelRef("mypkg.kernels", None, "attention")
    assert row.signature == {"q_ptr": Argument("*fp16", divisible=True), "seq_len": Argument("i32", divisible=True)}
    assert row.constants == {"BLOCK": 64, "DTYPE": {"dtype": "fp16"}, "ACT": {"jit": "mypkg.kernels:silu"}}
    assert row.options_for("cuda") == {"num_warps": 8, "num_stages": 3}
    assert row.options_for("hip") == {"num_warps": 8, "num_stages": 2, "waves_per_eu": 2}
    assert row.targets == (Target("cuda", "90"),)
    assert row.settings.timeout == 600
    assert row.settings.max_rss == 4 << 30
    assert row.settings.env == {"FLA_USE_TMA": "0", "OTHER": "1"}
    assert row.xfail == (Expectation("hip:gfx1100"), Expectation("cuda:*", "<3.9", "reported"))


def test_an_empty_manifest_has_the_documented_defaults(tmp_path: Path) -> None:
    (tmp_path / "portcheck.toml").write_text("")
    manifest = load(tmp_path / "portcheck.toml")
    assert manifest.rows == ()
    assert (manifest.defaults.targets, manifest.defaults.triton) == ((), ("current",))
    assert (manifest.defaults.timeout, manifest.defaults.max_rss) == (300, 8 << 30)
    assert (manifest.cache.read, manifest.cache.write, manifest.cache.max_size) == (("main",), "main", 5 << 30)


def test_pyproject_holds_the_same_under_its_tool_table(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        "[project]\nname = 'p'\n[tool.portcheck.defaults]\ntargets = ['cuda:90']\n"
        "[[tool.portcheck.kernel]]\nname = 'k'\ntarget = 'mod:k'\nsignature = {}\n"
    )
    (row,) = load(tmp_path / "pyproject.toml").rows
    assert (row.name, row.targets) == ("k", (Target("cuda", "90"),))
    assert row.where == 'pyproject.toml: kernel "k"'


def test_the_nearest_manifest_is_found(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    (tmp_path / "portcheck.toml").write_text("")
    assert find_manifest(deep) == tmp_path / "portcheck.toml"
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.portcheck]")
    assert find_manifest(deep) == tmp_path / "a" / "pyproject.toml"
    (tmp_path / "a" / "portcheck.toml").write_text("")
    assert find_manifest(deep) == tmp_path / "a" / "portcheck.toml"


@pytest.mark.parametrize("other", ["[tool.ruff]", "tool = 3", "[project", ""])
def test_a_pyproject_of_somebody_else_is_passed_over(tmp_path: Path, other: str) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "pyproject.toml").write_text(other)
    (tmp_path / "portcheck.toml").write_text("")
    assert find_manifest(tmp_path / "sub") == tmp_path / "portcheck.toml"


def test_a_broken_pyproject_that_mentions_portcheck_is_found_so_that_its_mistake_is_told(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.portcheck]\nx = = 1")
    found = find_manifest(tmp_path)
    assert found is not None
    with pytest.raises(UsageError, match=r"pyproject.toml: not valid TOML: Invalid value \(at line 2"):
        load(found)


def test_what_cannot_be_read_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read the manifest: No such file or directory"):
        load(tmp_path / "portcheck.toml")
    with pytest.raises(UsageError, match="cannot read the manifest: Is a directory"):
        load(tmp_path)
    (tmp_path / "portcheck.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="not valid TOML: 'utf-8' codec"):
        load(tmp_path / "portcheck.toml")
    (tmp_path / "pyproject.toml").write_text("[tool.ruff]")
    with pytest.raises(UsageError, match=r"there is no table \[tool.portcheck\]: add it"):
        load(tmp_path / "pyproject.toml")


def test_files_are_relative_to_the_manifest_wherever_one_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here" / "ops").mkdir(parents=True)
    (tmp_path / "here" / "ops" / "k.py").write_text("")
    (tmp_path / "outside.py").write_text("")
    kernel = "[[kernel]]\nname = '{0}'\ntarget = '{0}:k'\nsignature = {{}}\n"
    places = ["./ops/k.py", "ops/../ops/k.py", str(tmp_path / "here/ops/k.py"), "../outside.py"]
    (tmp_path / "here" / "portcheck.toml").write_text("".join(kernel.format(place) for place in places))
    monkeypatch.chdir(tmp_path)
    manifest = load(Path("here/portcheck.toml"))
    assert [row.ref.file for row in manifest.rows] == ["ops/k.py", "ops/k.py", "ops/k.py", "../outside.py"]

"""Ten releases and forty targets: what each release compiles a plain kernel for."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from portcheck.compiler.child import linker
from tests.other_triton import interpreter

if TYPE_CHECKING:
    from tests.conftest import Project

KERNEL = """
    import triton
    import triton.language as tl


    @triton.jit
    def axpy(x_ptr, y_ptr, n, a, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + at, mask=at < n)
        tl.store(y_ptr + at, a * x + tl.load(y_ptr + at, mask=at < n), mask=at < n)
"""
MANIFEST = """
    [defaults]
    targets = TARGETS

    [[kernel]]
    name = "axpy"
    target = "kernels.py:axpy"
    signature = { x_ptr = "*fp32:16", y_ptr = "*fp32:16", n = "i32", a = "fp32" }
    constants = { BLOCK = 256 }
"""
VERDICTS = {"ok": "ok", "target": "unsupported-target", "crash": "crash"}
# As seen with the released wheels, and with LLD 19 where a release needs one.
GRID = """
    target       3.0.0  3.1.0  3.2.0  3.3.1  3.4.0  3.5.1  3.6.0  3.7.1  3.8.0  3.9.0
    cuda:20      target target target target target target target target target target
    cuda:50      ok     ok     ok     ok     ok     ok     ok     ok     ok     ok
    cuda:60      ok     ok     ok     ok     ok     ok     ok     ok     ok     ok
    cuda:61      ok     ok     ok     ok     ok     ok     ok     ok     ok     ok
    cuda:70      ok     ok     ok     ok     ok     ok     ok     ok     ok     ok
    cuda:72      ok     ok     ok     ok     ok     ok     ok     ok     ok     ok
    cuda:75      ok     ok     ok     ok     ok     ok     ok     ok     ok     ok
    cuda:80      ok     ok     ok     ok     ok     ok     ok     ok     ok     ok
    cuda:86      ok     ok     ok     ok     ok     ok     ok     ok     ok     ok
    cuda:87      ok     ok     ok     ok     ok     ok     ok     ok     ok     ok
    cuda:88      target target target target target target target target crash  crash
    cuda:89      ok     ok     ok     ok     ok     ok     ok     ok     ok     ok
    cuda:90      ok     ok     ok     ok     ok     ok     ok     ok     ok     ok
    cuda:100     target target target ok     ok     ok     ok     ok     ok     ok
    cuda:101     target target target ok     ok     ok     ok     target target target
    cuda:103     target target target target target target ok     ok     ok     ok
    cuda:107     target target target target target target target target target ok
    cuda:110     target target target target target target target ok     ok     ok
    cuda:120     target target target ok     ok     ok     ok     ok     ok     ok
    cuda:121     target target target target target target ok     ok     ok     ok
    hip:gfx900   target target target target target target target target target target
    hip:gfx906   target target target target target target target target ok     ok
    hip:gfx908   ok     ok     ok     ok     ok     ok     ok     ok     ok     ok
    hip:gfx90a   ok     ok     ok     ok     ok     ok     ok     ok     ok     ok
    hip:gfx940   ok     ok     ok     target target target target target target target
    hip:gfx942   ok     ok     ok     ok     ok     ok     ok     ok     ok     ok
    hip:gfx950   target target ok     ok     ok     ok     ok     ok     ok     ok
    hip:gfx1010  ok     ok     ok     ok     ok     ok     ok     ok     ok     target
    hip:gfx1030  ok     ok     ok     ok     ok     ok     ok     ok     ok     target
    hip:gfx1100  ok     ok     ok     ok     ok     ok     ok     ok     ok     ok
    hip:gfx1101  ok     ok     ok     ok     ok     ok     ok     ok     ok     ok
    hip:gfx1103  ok     ok     ok     ok     ok     ok     ok     ok     ok     ok
    hip:gfx1150  ok     ok     ok     ok     ok     ok     ok     ok     ok     ok
    hip:gfx1151  ok     ok     ok     ok     ok     ok     ok     ok     ok     ok
    hip:gfx1152  target target ok     ok     ok     ok     ok     ok     ok     ok
    hip:gfx1200  ok     ok     ok     ok     ok     ok     ok     ok     ok     ok
    hip:gfx1201  ok     ok     ok     ok     ok     ok     ok     ok     ok     ok
    hip:gfx1250  target target target target target target ok     ok     ok     ok
    hip:gfx1251  target target target target target target target target ok     ok
    hip:gfx9999  target target target target target target target target target target
"""
HEAD, *ROWS = (line.split() for line in GRID.strip().splitlines())
RELEASES = HEAD[1:]
RUNS_LLD = ("3.0.0", "3.1.0", "3.2.0", "3.3.1", "3.4.0")  # of the machine's


@pytest.mark.download
@pytest.mark.skipif("PORTCHECK_TORTURE" not in os.environ, reason="downloads ten releases: doit torture")
@pytest.mark.parametrize("release", RELEASES)
def test_a_release_compiles_for_the_targets_that_it_knows(
    release: str, project: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    project.python = interpreter(release, tmp_path_factory.getbasetemp().parent / "releases")
    targets = [row[0] for row in ROWS]
    project.write({"kernels.py": KERNEL, "portcheck.toml": MANIFEST.replace("TARGETS", str(targets))})
    expected = {row[0]: VERDICTS[row[1 + RELEASES.index(release)]] for row in ROWS}
    if lld := linker.find("", os.environ):
        project.env["TRITON_HIP_LLD_PATH"] = lld
    elif release in RUNS_LLD:
        expected.update({target: "toolchain-error" for target in targets if target.startswith("hip:")})

    found = {name.partition("@")[2]: verdict for name, (verdict, _) in project.check().verdicts.items()}

    assert found == expected

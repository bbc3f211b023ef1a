"""Triton 3.2: no knobs, a linker of the machine's for AMD, locations that have to be taken out of the IR's text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Project
from tests.other_triton import interpreter

pytestmark = pytest.mark.download

RELEASE = "3.2.0"
KERNELS = """
    import triton
    import triton.language as tl


    @triton.jit
    def axpy(x_ptr, y_ptr, n, a, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + at, mask=at < n)
        tl.store(y_ptr + at, a * x + tl.load(y_ptr + at, mask=at < n), mask=at < n)


    @triton.jit
    def dot(x_ptr, SIZE: tl.constexpr):
        at = x_ptr + tl.arange(0, SIZE)[:, None] * SIZE + tl.arange(0, SIZE)[None, :]
        tl.store(at, tl.dot(tl.load(at), tl.load(at)).to(tl.float16))


    @triton.jit
    def poll(x_ptr, BLOCK: tl.constexpr):
        tl.store(x_ptr, tl.atomic_load(x_ptr))
"""
MANIFEST = """
    [defaults]
    targets = ["cuda:80", "cuda:103", "hip:gfx942", "hip:gfx900"]

    [[kernel]]
    name = "axpy"
    target = "kernels.py:axpy"
    signature = { x_ptr = "*fp32:16", y_ptr = "*fp32:16", n = "i32", a = "fp32" }
    constants = { BLOCK = 256 }

    [[kernel]]
    name = "dot"
    target = "kernels.py:dot"
    signature = { x_ptr = "*fp16:16" }
    constants = { SIZE = 32 }
    targets = ["cuda:100"]

    [[kernel]]
    name = "poll"
    target = "kernels.py:poll"
    signature = { x_ptr = "*i32:16" }
    constants = { BLOCK = 16 }
    targets = ["cuda:80"]
"""
# Called as `ld.lld -flavor gnu -shared IN -o OUT`; what it links does not matter here.
LINKER = '#!/bin/sh\n[ "$1" = --version ] && echo LLD 19.1.7 || cp "$4" "$6"\n'


@pytest.fixture(scope="session")
def python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The interpreter with Triton 3.2."""
    return interpreter(RELEASE, tmp_path_factory.getbasetemp().parent / "releases")


@pytest.fixture
def old(python: str, project: Project) -> Project:
    """A project that is checked with Triton 3.2, on a machine without a linker for AMD."""
    project.write({"kernels.py": KERNELS, "portcheck.toml": MANIFEST})
    project.python = python
    return project


@pytest.fixture
def link(old: Project, tmp_path: Path) -> Callable[[str], None]:
    """`link(text)` puts a program of that text into the place of the linker, where only PATH leads."""

    def put(text: str) -> None:
        program = tmp_path / "bin" / "ld.lld"
        program.parent.mkdir(exist_ok=True)
        program.write_text(text)
        program.chmod(0o755)
        old.env["PATH"] = f"{program.parent}:/usr/bin:/bin"

    return put


def edit(project: Project, old: str, new: str) -> None:
    """Change the kernels."""
    path = project.folder / "kernels.py"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_every_cell_gets_the_verdict_of_that_release(old: Project, link: Callable[[str], None]) -> None:
    link(LINKER)
    ran = old.check()

    assert ran.status == 1
    assert ran.verdicts == {
        "axpy@cuda:80": ("ok", None),
        "axpy@cuda:103": ("unsupported-target", "cubin"),
        "axpy@hip:gfx942": ("ok", None),
        "axpy@hip:gfx900": ("unsupported-target", "llir"),
        "dot@cuda:100": ("crash", "ttgir"),  # the compiler aborts
        "poll@cuda:80": ("frontend-error", "frontend"),
    }
    assert "computeCapability not supported" in ran.failure("dot@cuda:100")["message"]
    assert ran.failure("poll@cuda:80")["message"] == "module 'triton.language' has no attribute 'atomic_load'"
    assert "at kernels.py:21:21" in ran.out
    assert ran.cells["axpy@cuda:80"]["resources"]["registers"] > 0
    assert set(old.check().origins.values()) == {"cached"}


def test_without_a_linker_the_machine_is_at_fault(old: Project, link: Callable[[str], None]) -> None:
    ran = old.check("-k", "axpy", "-t", "cuda:80,hip:gfx942,hip:gfx900")

    assert ran.status == 3
    assert {name: verdict for name, (verdict, _) in ran.verdicts.items()} == {
        "axpy@cuda:80": "ok",
        "axpy@hip:gfx942": "toolchain-error",
        "axpy@hip:gfx900": "toolchain-error",
    }
    assert "set TRITON_HIP_LLD_PATH to an ld.lld" in ran.out

    link(LINKER)
    assert old.check("-k", "axpy", "-t", "cuda:80,hip:gfx942").origins == {
        "axpy@cuda:80": "cached",
        "axpy@hip:gfx942": "compiled",
    }


def test_another_linker_is_another_toolchain_for_amd(old: Project, link: Callable[[str], None]) -> None:
    selection = ("-k", "axpy", "-t", "cuda:80,hip:gfx942")
    link(LINKER)
    old.check(*selection)
    link(LINKER + "# of another build\n")

    assert old.check(*selection).origins == {"axpy@cuda:80": "cached", "axpy@hip:gfx942": "compiled"}

    link(LINKER)
    assert set(old.check(*selection).origins.values()) == {"cached"}


@pytest.mark.parametrize(
    ("before", "after", "origin"),
    [
        ("    x = tl.load", "    # a comment\n\n    x = tl.load", "cached"),
        ("x = tl.load(x_ptr + at, mask=at < n)", "z = tl.load(x_ptr + at, mask=at < n); x = z", "cutoff"),
        ("a * x +", "2 * a * x +", "compiled"),
        ("@triton.jit\ndef axpy", "@triton.jit(repr=lambda _: 'saxpy')\ndef axpy", "compiled"),
        (
            "import triton.language as tl\n",
            "import triton.language as tl\nfrom triton.backends import backends\n"
            "parse = backends['nvidia'].compiler.parse_options\n"
            "backends['nvidia'].compiler.parse_options = lambda b, given: parse(b, {**given, 'num_warps': 8})\n",
            "compiled",
        ),
    ],
    ids=["a comment", "a renamed local", "another result", "another name", "a patched backend"],
)
def test_an_edit_compiles_what_it_changes(old: Project, before: str, after: str, origin: str) -> None:
    selection = ("-k", "axpy", "-t", "cuda:80")
    old.check(*selection)
    edit(old, before, after)

    assert old.check(*selection).origins == {"axpy@cuda:80": origin}

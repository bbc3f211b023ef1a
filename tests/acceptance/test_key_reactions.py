"""What a cell's front key reacts to, and what it must not react to. Nothing is compiled: keys are only computed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from portcheck.rules.request import Request
from portcheck.rules.run import Run
from portcheck.suite import Selection
from portcheck.toolchain.find import current

KERNEL = """
import triton
import triton.language as tl
from helpers import act

SCALE = tl.constexpr(2.0)

@triton.jit
def scale(x_ptr, n, FACTOR: tl.constexpr, BLOCK: tl.constexpr = 64):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(x_ptr + at, act(x) * FACTOR * SCALE, mask=at < n)
"""
HELPERS = "import triton\n\n@triton.jit\ndef act(x):\n    return x + 1\n\n@triton.jit\ndef unused(x):\n    return x\n"
MANIFEST = """
[defaults]
targets = ["cuda:90"]

[[kernel]]
name = "scale"
target = "kernels.py:scale"
signature = { x_ptr = "*fp32:16", n = "i32" }
constants = { FACTOR = 3 }
options = { num_warps = 4 }
"""

Key = Callable[..., str]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def key(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Key:
    """Computes the front key of the row `scale` for a project with some files or variables changed."""
    monkeypatch.setenv("PORTCHECK_CACHE", str(cache))

    def compute(
        files: dict[str, str] | None = None,
        env: dict[str, str] | None = None,
        target: str = "cuda:90",
        folder: str = "project",
    ) -> str:
        place = tmp_path / folder
        place.mkdir(parents=True, exist_ok=True)
        for name, text in {
            "kernels.py": KERNEL,
            "helpers.py": HELPERS,
            "portcheck.toml": MANIFEST,
            **(files or {}),
        }.items():
            (place / name).write_text(text)
        with monkeypatch.context() as patch:
            for name, value in (env or {}).items():
                patch.setenv(name, value)
            run = Run(Request(place / "portcheck.toml", Selection(targets=(target,), kernels=("scale",)), quiet=True))
            try:
                run.prepare()
                (cell,) = run.cells.values()
                return run.workshop.judge(cell).identity(cell)
            finally:
                run.close()

    return compute


def manifest(old: str, new: str) -> dict[str, str]:
    assert old in MANIFEST
    return {"portcheck.toml": MANIFEST.replace(old, new)}


def kernel(old: str, new: str) -> dict[str, str]:
    assert old in KERNEL
    return {"kernels.py": KERNEL.replace(old, new)}


REACTS = {
    "the kernel's source": kernel("act(x) * FACTOR", "act(x) + FACTOR"),
    "a renamed local": kernel("    x = tl.load", "    y = tl.load") | {},
    "a docstring": kernel("BLOCK: tl.constexpr = 64):", 'BLOCK: tl.constexpr = 64):\n    "doc"'),
    "a constexpr global": kernel("tl.constexpr(2.0)", "tl.constexpr(2.5)"),
    "the type of a constexpr global": kernel("tl.constexpr(2.0)", "tl.constexpr(2)"),
    "a default": kernel("= 64", "= 128"),
    "a decorator flag": kernel("@triton.jit", "@triton.jit(debug=True)"),
    "do_not_specialize": kernel("@triton.jit", '@triton.jit(do_not_specialize=["n"])'),
    "noinline of a helper": {
        "helpers.py": HELPERS.replace("@triton.jit\ndef act", "@triton.jit(noinline=True)\ndef act")
    },
    "a helper": {"helpers.py": HELPERS.replace("x + 1", "x + 2")},
    "a constant": manifest("FACTOR = 3", "FACTOR = 4"),
    "the type of a constant": manifest("FACTOR = 3", "FACTOR = 3.0"),
    "a constant that is a dtype": manifest("FACTOR = 3", 'FACTOR = { dtype = "fp16" }'),
    "a constant that is a string": manifest("FACTOR = 3", 'FACTOR = "3"'),
    "a constant that is a bool": manifest("FACTOR = 3", "FACTOR = true"),
    "a constant in a constexpr": manifest("FACTOR = 3", "FACTOR = { constexpr = 3 }"),
    "another value of a default": manifest("FACTOR = 3", "FACTOR = 3, BLOCK = 256"),
    "a pointer's type": manifest("*fp32:16", "*fp16:16"),
    "an integer's type": manifest('n = "i32"', 'n = "i64"'),
    "a pointer's alignment": manifest("*fp32:16", "*fp32"),
    "an integer's alignment": manifest('"i32"', '"i32:16"'),
    "a tensor over 2 GiB": manifest("*fp32:16", "*fp32:16:large"),
    "a constant instead of an argument": manifest(', n = "i32" }', " }")
    | manifest(
        'signature = { x_ptr = "*fp32:16", n = "i32" }\nconstants = { FACTOR = 3 }',
        'signature = { x_ptr = "*fp32:16" }\nconstants = { FACTOR = 3, n = 1 }',
    ),
    "an option's value": manifest("num_warps = 4", "num_warps = 8"),
    "another option": manifest("num_warps = 4", "num_warps = 4, num_stages = 2"),
    "an option of this backend": manifest("options = {", "options_cuda = { maxnreg = 64 }\noptions = {"),
    "the salt": {"portcheck.toml": MANIFEST + '\n[cache]\nsalt = "x"\n'},
}
# One value other than the default for each variable that changes what Triton generates.
VARIABLES = {
    "TRITON_F32_DEFAULT": "ieee",
    "TRITON_DEFAULT_FP_FUSION": "0",
    "TRITON_FORCE_DISABLE_FP_FUSION": "1",
    "TRITON_ALLOW_NON_CONSTEXPR_GLOBALS": "1",
    "TRITON_DISABLE_LINE_INFO": "1",
    "TRITON_DEBUG": "1",
    "TRITON_INSTRUMENTATION_MODE": "fpsan",
    "TRITON_ENABLE_ASAN": "1",
    "TRITON_FPSAN_HOMOMORPHIC_CASTS": "1",
    "TRITON_MOCK_PTX_VERSION": "8.7",
    "TRITON_OVERRIDE_ARCH": "sm80",
    "TRITON_HIP_USE_BLOCK_PINGPONG": "1",
    "TRITON_HIP_USE_ASYNC_COPY": "1",
    "TRITON_HIP_USE_IN_THREAD_TRANSPOSE": "1",
    "AMDGCN_USE_BUFFER_OPS": "0",
    "AMDGCN_USE_BUFFER_ATOMICS": "0",
    "AMDGCN_SCALARIZE_PACKED_FOPS": "1",
    "DISABLE_PTXAS_OPT": "1",
    "PTXAS_OPTIONS": "-O1",
    "DISABLE_LLVM_OPT": "1",
    "LLVM_EXTRACT_DI_LOCAL_VARIABLES": "1",
    "USE_IR_LOC": "ttir",
}
# The same, set in Python while the module is imported.
KNOBS = {
    "language.fp32_default": '"ieee"',
    "language.default_fp_fusion": "False",
    "language.force_disable_fp_fusion": "True",
    "compilation.allow_non_constexpr_globals": "True",
    "compilation.disable_line_info": "True",
    "compilation.enable_asan": "True",
    "runtime.debug": "True",
    "nvidia.disable_ptxas_opt": "True",
    "nvidia.ptxas_options": '"-O1"',
    "nvidia.mock_ptx_version": '"8.7"',
    "amd.use_buffer_ops": "False",
    "amd.use_async_copy": "True",
    "amd.scalarize_packed_fops": "True",
}
INDIFFERENT_VARIABLES = {
    "HOME": "/nowhere",
    "TMPDIR": "",
    "USER": "somebody",
    "LOGNAME": "somebody",
    "HOSTNAME": "elsewhere",
    "PYTHONHASHSEED": "7",
    "TERM": "dumb",
    "GITHUB_RUN_ID": "12345",
    "TRITON_CACHE_DIR": "",
    "TRITON_HOME": "",
    "TRITON_KERNEL_DUMP": "0",
    "TRITON_PRINT_AUTOTUNING": "1",
    "TRITON_ALWAYS_COMPILE": "1",
    "TRITON_DUMP_PTXAS_LOG": "1",
    "NVPTX_ENABLE_DUMP": "1",
    "AMDGCN_ENABLE_DUMP": "1",
    "MLIR_ENABLE_TIMING": "1",
    "LLVM_ENABLE_TIMING": "1",
}
INDIFFERENT_FILES = {
    "a comment": kernel("    x = tl.load", "    # so\n    x = tl.load"),
    "moved lines": kernel("\nimport triton\n", "\n\n\n\nimport triton\n"),
    "layout": kernel("act(x) * FACTOR * SCALE", "(act(x)\n        * FACTOR * SCALE)"),
    "a helper that the kernel does not reach": {"helpers.py": HELPERS.replace("return x\n", "return x * 2\n")},
    "a global that it does not mention": kernel("SCALE =", "OTHER = 1\nSCALE ="),
    "a default that is written out": manifest("FACTOR = 3", "FACTOR = 3, BLOCK = 64"),
    "an option of the other backend": manifest("options = {", "options_hip = { waves_per_eu = 2 }\noptions = {"),
    "an option that only the other backend knows": manifest("num_warps = 4", "num_warps = 4, waves_per_eu = 2"),
    "the order of constants": manifest("FACTOR = 3", "FACTOR = 3")
    | manifest('x_ptr = "*fp32:16", n = "i32"', 'n = "i32", x_ptr = "*fp32:16"'),
    "another row before it": {
        "portcheck.toml": MANIFEST.replace(
            "[[kernel]]",
            '[[kernel]]\nname = "first"\ntarget = "kernels.py:scale"\nsignature = { x_ptr = "*fp16", n = "i32" }\n'
            "constants = { FACTOR = 1 }\n\n[[kernel]]",
            1,
        )
    },
    "a timeout": manifest("options = {", "timeout = 5\noptions = {"),
    "an expected failure": manifest("options = {", 'xfail = ["cuda:90"]\noptions = {'),
}


@pytest.mark.parametrize("what", REACTS)
def test_the_key_reacts_to(key: Key, what: str) -> None:
    assert key(REACTS[what]) != key()


def test_the_key_reacts_to_the_target(key: Key) -> None:
    keys = {key(target=target) for target in ("cuda:90", "cuda:80", "cuda:100", "hip:gfx942", "hip:gfx950")}
    assert len(keys) == 5


@pytest.mark.parametrize("name", VARIABLES)
def test_the_key_reacts_to_the_variable(key: Key, name: str) -> None:
    assert key(env={name: VARIABLES[name]}) != key()


@pytest.mark.parametrize("knob", KNOBS)
def test_the_key_reacts_to_a_knob_that_is_set_in_python(key: Key, knob: str) -> None:
    assert key(kernel("\nSCALE", f"\ntriton.knobs.{knob} = {KNOBS[knob]}\nSCALE")) != key()


def test_the_key_reacts_to_another_ptxas_by_its_content_not_its_place(key: Key, tmp_path: Path) -> None:
    found = current()
    assert found is not None
    ptxas = found[1] / "backends" / "nvidia" / "bin" / "ptxas"
    same, elsewhere, other = tmp_path / "same", tmp_path / "elsewhere", tmp_path / "other"
    for copy in (same, elsewhere, other):
        shutil.copy(ptxas, copy)
    with other.open("ab") as file:
        file.write(b"\0")

    keys = [key(env={"TRITON_PTXAS_PATH": str(path)}) for path in (same, elsewhere, other)]

    assert keys[0] == keys[1] != keys[2]


@pytest.mark.parametrize("name", INDIFFERENT_VARIABLES)
def test_the_key_does_not_react_to_the_variable(key: Key, tmp_path: Path, name: str) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    assert key(env={name: INDIFFERENT_VARIABLES[name] or str(scratch)}) == key()


@pytest.mark.parametrize("what", INDIFFERENT_FILES)
def test_the_key_does_not_react_to(key: Key, what: str) -> None:
    assert key(INDIFFERENT_FILES[what]) == key()


def test_the_key_does_not_react_to_the_place_of_the_checkout(key: Key) -> None:
    assert key(folder="some/where else") == key()


def test_the_table_is_as_long_as_it_should_be() -> None:
    assert len(REACTS) + len(VARIABLES) + len(KNOBS) + len(INDIFFERENT_VARIABLES) + len(INDIFFERENT_FILES) >= 60
    assert os.environ.get("TRITON_F32_DEFAULT") is None  # else the base of all comparisons is off

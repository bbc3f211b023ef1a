"""What is changed is compiled again, and what is changed back is found again: never a verdict of something else."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Project, Ran

FILES = {
    "portcheck.toml": """
        [defaults]
        targets = ["cuda:90"]
        env = { FROM_MANIFEST = "1" }

        [cache]
        salt = ""

        [[kernel]]
        name = "scale"
        target = "kernels.py:scale"
        signature = { x = "*fp32", y = "*fp32" }
        constants = { BLOCK = 128, ACT = { jit = "activations.py:relu" } }
        options = { num_warps = 4 }
    """,
    "kernels.py": """
        import json
        import os
        from pathlib import Path

        import triton
        import triton.language as tl

        import factors
        from helpers import load_row

        FROM_DATA = tl.constexpr(json.loads(Path(__file__).with_name("tuning.json").read_text())["factor"])
        FROM_SHELL = tl.constexpr(int(os.environ.get("FACTOR", "1")))
        FROM_MANIFEST = tl.constexpr(int(os.environ["FROM_MANIFEST"]))
        OPTIONAL = tl.constexpr(Path(__file__).with_name("optional.txt").exists())

        @triton.jit
        def scale(x, y, BLOCK: tl.constexpr, ACT: tl.constexpr):
            at = tl.arange(0, BLOCK)
            row = load_row(x, at)
            factor: tl.constexpr = factors.FACTOR * FROM_DATA * FROM_SHELL * FROM_MANIFEST
            tl.store(y + at, ACT(row * row + factor))
    """,
    "helpers.py": """
        import triton
        import triton.language as tl

        @triton.jit
        def load_row(x, at):
            return tl.load(x + at)
    """,
    "activations.py": """
        import triton
        import triton.language as tl

        @triton.jit
        def relu(x):
            return tl.maximum(x, 0.0)
    """,
    "factors.py": "FACTOR = 3\n",
    "tuning.json": '{"factor": 7}\n',
}

# what is edited → file, text, replacement. All of them change the code that is generated.
EDITS = {
    "the kernel": ("kernels.py", "row * row", "row + row"),
    "a helper": ("helpers.py", "tl.load(x + at)", "tl.load(x + at) * 2"),
    "a function given as a constant": ("activations.py", "maximum", "minimum"),
    "a module's attribute": ("factors.py", "3", "11"),
    "a data file": ("tuning.json", "7", "13"),
    "the environment that the manifest sets": ("portcheck.toml", 'FROM_MANIFEST = "1"', 'FROM_MANIFEST = "2"'),
    "a constant": ("portcheck.toml", "BLOCK = 128", "BLOCK = 256"),
    "an option": ("portcheck.toml", "num_warps = 4", "num_warps = 8"),
    "a type": ("portcheck.toml", '"*fp32"', '"*fp16"'),
    "a mark": ("portcheck.toml", '"*fp32"', '"*fp32:16"'),
}


@pytest.fixture(scope="module")
def scaling(make_project: Callable[[], Project]) -> Project:
    """A kernel that depends on everything that a kernel can depend on."""
    project = make_project()
    project.write(FILES)
    return project


@pytest.fixture(scope="module")
def original(scaling: Project) -> Ran:
    """Its first run."""
    return scaling.check()


def result(ran: Ran) -> tuple[str, str]:
    """The digests of the generated code."""
    artifacts = ran.cells["scale@cuda:90"]["artifacts"]
    return artifacts["ttgir"]["digest"], artifacts["cubin"]["digest"]


@pytest.mark.parametrize("what", EDITS)
def test_an_edit_is_compiled_and_undoing_it_is_not(scaling: Project, original: Ran, what: str) -> None:
    name, text, replacement = EDITS[what]
    path = scaling.folder / name
    before = path.read_text()
    assert text in before

    path.write_text(before.replace(text, replacement))
    edited = scaling.check()
    path.write_text(before)
    undone = scaling.check()

    assert edited.origins == {"scale@cuda:90": "compiled"}
    assert result(edited) != result(original)
    assert undone.origins == {"scale@cuda:90": "cached"}
    assert result(undone) == result(original)


def test_an_edit_that_stat_hardly_shows_is_compiled(scaling: Project, original: Ran) -> None:
    path = scaling.folder / "factors.py"
    before, stat = path.read_text(), path.stat()

    path.write_text("FACTOR = 5\n")  # the same size
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))  # and the same time
    edited = scaling.check()
    path.write_text(before)

    assert edited.origins == {"scale@cuda:90": "compiled"}
    assert result(edited) != result(original)


@pytest.mark.parametrize(
    "variables",
    [{"FACTOR": "17"}, {"TRITON_DEFAULT_FP_FUSION": "0"}, {"DISABLE_PTXAS_OPT": "1"}],
    ids=lambda v: next(iter(v)),
)
def test_the_environment_counts(scaling: Project, original: Ran, variables: dict[str, str]) -> None:
    scaling.env = variables
    changed = scaling.check()
    scaling.env = {}

    assert changed.origins == {"scale@cuda:90": "compiled"}
    assert result(changed) != result(original)
    assert result(scaling.check()) == result(original)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("TRITON_INTERPRET", "1"),
        ("TRITON_KERNEL_OVERRIDE", "1"),
        ("TRITON_SWAP_MIR", "/some/folder"),
        ("TRITON_OVERRIDE_ARCH", "sm80"),
    ],
)
def test_what_would_compile_something_else_is_refused(
    scaling: Project, original: Ran, variable: str, value: str
) -> None:
    scaling.env = {variable: value}
    refused = scaling.check()
    scaling.env = {}

    assert refused.verdicts == {"scale@cuda:90": ("options-error", "options")}
    assert refused.failure("scale@cuda:90")["message"].startswith(f"{variable} is set, which ")
    assert scaling.check().verdicts == {"scale@cuda:90": ("ok", None)}


def test_who_and_where_do_not_count(scaling: Project, original: Ran) -> None:
    scaling.env = {
        "USER": "somebody",
        "PWD": "/else/where",
        "LANG": "de_DE.UTF-8",
        "PYTHONHASHSEED": "7",
        "TERM": "dumb",
    }
    elsewhere = scaling.check()
    scaling.env = {}

    assert elsewhere.origins == {"scale@cuda:90": "cached"}


def test_a_salt_disowns_every_record(scaling: Project, original: Ran) -> None:
    scaling.write({"salted.toml": FILES["portcheck.toml"].replace('salt = ""', 'salt = "2"')})

    salted = scaling.check("salted.toml")

    assert salted.origins == {"scale@cuda:90": "compiled"}
    assert result(salted) == result(original)


def test_rows_of_one_function_do_not_answer_for_each_other(project: Project) -> None:
    project.write(FILES)
    manifest = FILES["portcheck.toml"]
    other = manifest[manifest.index("        [[kernel]]") :].replace('"scale"', '"other"').replace("128", "64")
    project.write({"portcheck.toml": manifest + other})

    ran = project.check()

    cells = ran.cells
    assert cells["scale@cuda:90"]["front_key"] != cells["other@cuda:90"]["front_key"]
    assert cells["scale@cuda:90"]["kernel_hash"] == cells["other@cuda:90"]["kernel_hash"]


def test_a_file_that_changes_while_it_is_imported_is_not_recorded(project: Project) -> None:
    project.write(FILES)
    project.write({"factors.py": "FACTOR = 3\nimport pathlib\npathlib.Path(__file__).write_text('FACTOR = 5\\n')\n"})

    first, second, third = project.check(), project.check(), project.check()

    assert [ran.origins["scale@cuda:90"] for ran in (first, second, third)] == ["compiled", "compiled", "cached"]
    assert result(second) != result(first)
    assert result(third) == result(second)


def test_a_file_that_is_read_only_while_compiling_is_never_taken_for_granted(project: Project) -> None:
    project.write(
        {
            "portcheck.toml": """
                [[kernel]]
                name = "scale"
                target = "kernels.py:scale"
                signature = { x = "*fp32" }
                targets = ["cuda:90"]
            """,
            "kernels.py": """
                import pathlib
                import triton
                import triton.language as tl

                @triton.constexpr_function
                def factor():
                    return int(pathlib.Path(__file__).with_name("factor.txt").read_text())

                @triton.jit
                def scale(x):
                    tl.store(x, tl.load(x) * factor())
            """,
            "factor.txt": "3",
        }
    )
    first = project.check()
    project.write({"factor.txt": "5"})
    second = project.check()

    assert second.origins == {"scale@cuda:90": "compiled"}
    assert result(second) != result(first)


def test_damaged_records_are_compiled_again_and_healed(project: Project) -> None:
    project.write(FILES)
    first = project.check()
    for record in (project.cache / "1").glob("*/*/*"):
        record.write_bytes(record.read_bytes()[:-3] + b"bad")

    second, third = project.check(), project.check()

    assert second.origins == {"scale@cuda:90": "compiled"}
    assert third.origins == {"scale@cuda:90": "cached"}
    assert result(first) == result(second) == result(third)


def test_a_cache_that_cannot_be_written_costs_nothing_but_time(project: Project) -> None:
    project.write(FILES)
    project.cache.write_text("a file in the way")

    ran = project.check()

    assert (ran.status, ran.verdicts) == (0, {"scale@cuda:90": ("ok", None)})
    (warning,) = (line for line in ran.err.splitlines() if line.startswith("portcheck: "))
    assert "carrying on without" in warning

"""Well-formed targets that this Triton or its assembler does not know."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.conftest import Project

FILES = {
    "portcheck.toml": """
        [[kernel]]
        name = "copy"
        target = "kernels.py:copy"
        signature = { x = "*fp32", y = "*fp32" }
    """,
    "kernels.py": """
        import triton
        import triton.language as tl

        @triton.jit
        def copy(x, y):
            tl.store(y, tl.load(x))
    """,
}
# As seen with Triton 3.9.0: ptxas knows none of the first two, Triton's AMD passes none of the last two.
VERDICTS = {
    "cuda:20": ("unsupported-target", "cubin"),
    "cuda:101": ("unsupported-target", "cubin"),
    "cuda:103": ("ok", None),
    "hip:gfx900": ("unsupported-target", "llir"),
    "hip:gfx9999": ("unsupported-target", "llir"),
    "hip:gfx906": ("ok", None),
}


def test_an_architecture_that_is_not_supported_is_a_red_cell(project: Project) -> None:
    project.write(FILES)

    ran = project.check("-t", ",".join(VERDICTS))

    assert ran.verdicts == {f"copy@{target}": verdict for target, verdict in VERDICTS.items()}
    assert ran.status == 1
    assert "sm_20" in ran.failure("copy@cuda:20")["message"]
    assert "gfx900" in ran.failure("copy@hip:gfx900")["message"]

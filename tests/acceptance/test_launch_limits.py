"""A kernel that compiles, and asks for more than some devices grant."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.conftest import Project

# A transposition through shared memory: 128 × 256 values of 4 bytes are 128 KiB.
FILES = {
    "portcheck.toml": """
        [defaults]
        targets = ["cuda:75", "cuda:90"]

        [[kernel]]
        name = "transpose"
        target = "kernels.py:transpose"
        signature = { src = "*fp32", dst = "*fp32" }
        constants = { R = 128, C = 256 }
        options = { num_warps = 8 }
    """,
    "kernels.py": """
        import triton
        import triton.language as tl

        @triton.jit
        def transpose(src, dst, R: tl.constexpr, C: tl.constexpr):
            r = tl.arange(0, R)
            c = tl.arange(0, C)
            x = tl.load(src + r[:, None] * C + c[None, :])
            tl.store(dst + c[:, None] * R + r[None, :], tl.trans(x))
    """,
}


def test_the_verdict_follows_the_setting_and_nothing_is_compiled_again(project: Project) -> None:
    project.write(FILES)
    manifest = (project.folder / "portcheck.toml").read_text()

    failed = project.check()
    project.write({"portcheck.toml": manifest.replace("[defaults]", '[defaults]\nlaunch_limits = "warn"')})
    warned = project.check()
    project.write({"portcheck.toml": manifest.replace("[[kernel]]", '[[kernel]]\nlaunch_limits = "off"')})
    off = project.check()

    assert failed.verdicts == {"transpose@cuda:75": ("launch-limit", "launch"), "transpose@cuda:90": ("ok", None)}
    assert failed.cells["transpose@cuda:75"]["resources"]["shared"] == 131072
    assert (
        failed.failure("transpose@cuda:75")["message"]
        == "asks for 131072 bytes of shared memory a block; cuda:75 grants 65536"
    )
    assert failed.status == 1

    assert set(warned.verdicts.values()) == {("ok", None)}
    assert "131072 bytes" in warned.cells["transpose@cuda:75"]["warning"]["message"]
    assert "no launch will succeed" in warned.out
    assert (warned.status, set(warned.origins.values())) == (0, {"cached"})

    assert off.cells["transpose@cuda:75"]["warning"] is None
    assert (off.status, set(off.origins.values())) == (0, {"cached"})

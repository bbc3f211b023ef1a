"""Every signature that the installed Triton can give rise to, compiled; and fingerprints, on real failures."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from portcheck.diagnose.signatures import RECORDED, Signature, signatures

if TYPE_CHECKING:
    from tests.conftest import Project, Ran

CASES = Path(__file__).parent / "signatures"
REPRODUCED = [signature for signature in signatures() if signature.case != RECORDED]
SIMILAR = [
    ("libdevice.cbrt", "libdevice.cbrt(tl.load(x))"),
    ("libdevice.tgamma", "libdevice.tgamma(tl.load(x))"),
    ("tl.absent_1", "tl.absent_1(x)"),
    ("tl.absent_2", "tl.absent_2(x)"),
    ("a method", "tl.load(x).absent_1()"),
]


@pytest.fixture(scope="module")
def ran(make_project: Callable[[], Project]) -> Ran:
    """All cases, compiled in one run."""
    project = make_project()
    shutil.copytree(CASES, project.folder, dirs_exist_ok=True)
    return project.check()


@pytest.mark.parametrize("signature", REPRODUCED, ids=lambda signature: signature.id)
def test_the_case_of_a_signature_is_explained_by_it(ran: Ran, signature: Signature) -> None:
    assert ran.cells[signature.case]["verdict"] != "ok"
    failure = ran.failure(signature.case)
    assert failure["signature"] == signature.id, failure["message"]
    assert failure["title"] and failure["why"] and failure["do"]
    assert failure["see"] == signature.see


def test_the_report_tells_why_and_what_to_do(ran: Ran) -> None:
    assert "what: libdevice.tgamma does not exist for AMD\n" in ran.out
    assert "see:  https://github.com/triton-lang/triton/issues/10375\n" in ran.out


def test_deliberately_similar_failures_get_fingerprints_of_their_own(project: Project) -> None:
    project.write({"kernels.py": _kernels(SIMILAR), "portcheck.toml": _manifest(SIMILAR)})

    ran = project.check()

    assert {verdict for verdict, _ in ran.verdicts.values()} == {"frontend-error"}
    assert len({cell["fingerprint"] for cell in ran.cells.values()}) == len(SIMILAR)


def test_one_failure_has_one_fingerprint_wherever_it_is_compiled(make_project: Callable[[], Project]) -> None:
    prints = set()
    for folder, jobs in (("", "1"), ("a checkout/of someone's", "2")):
        project = make_project()
        project.folder = project.folder / folder
        shutil.copytree(CASES, project.folder, dirs_exist_ok=True)
        (project.folder / "tmp").mkdir()
        project.env["TMPDIR"] = str(project.folder / "tmp")
        rows = [
            f"-k{row}" for row in ("fp8-arithmetic", "scatter4", "asm-ptx-on-amd", "dot-int8-on-turing", "ptx-version")
        ]
        ran = project.check(*rows, f"-j{jobs}")
        prints.add(tuple(sorted((name, cell["fingerprint"]) for name, cell in ran.cells.items())))

    assert len(prints) == 1
    assert len({print_ for _, print_ in prints.pop()}) == 5


def _kernels(bodies: list[tuple[str, str]]) -> str:
    head = "import triton\nimport triton.language as tl\nfrom triton.language.extra import libdevice\n"
    kernel = "\n\n@triton.jit\ndef k{0}(x, y):\n    tl.store(y, {1})\n"
    return head + "".join(kernel.format(number, body) for number, (_, body) in enumerate(bodies))


def _manifest(bodies: list[tuple[str, str]]) -> str:
    row = '[[kernel]]\nname = "{1}"\ntarget = "kernels.py:k{0}"\nsignature = {{ x = "*fp32", y = "*fp32" }}\n'
    rows = "".join(row.format(number, name) for number, (name, _) in enumerate(bodies))
    return f'[defaults]\ntargets = ["hip:gfx942"]\n\n{rows}'

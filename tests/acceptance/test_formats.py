"""Reports in every format, written by the command and by doit, with the real Triton."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from junitparser import JUnitXml

from tests.acceptance.test_doit import FILES
from tests.repository import git
from tests.schemas import conforms

if TYPE_CHECKING:
    from tests.conftest import Project

ASKED = {
    "json": "report.json",
    "junit": "junit.xml",
    "sarif": "portcheck.sarif",
    "markdown": "report.md",
    "html": "report.html",
}
LINE = 1 + FILES["kernels.py"].splitlines().index("        tl.store(x, libdevice.tgamma(tl.load(x)))")
AMD_ONLY = """
[defaults]
targets = ["cuda:90", "hip:gfx942"]

[[kernel]]
name = 'a|b "<i>]]>" %0A::error::'
target = "kernels.py:tgamma"
signature = { x = "*fp32" }
"""


DODO = """
    from portcheck.rules import DOIT_CONFIG, portcheck_suite
    globals().update(portcheck_suite("ci/portcheck.toml", junit="junit.xml", sarif="portcheck.sarif"))
"""


def page_data(page: Path) -> dict[str, Any]:
    """The data in an HTML report."""
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page.read_text(), re.DOTALL)
    shown: dict[str, Any] = json.loads(found)
    return shown


def stages_of(shown: dict[str, Any], digest: str) -> set[str]:
    """The stages of which a text of the page is the output."""
    cells = [dict(zip(shown["fields"], cell, strict=True)) for cell in shown["cells"]]
    return {stage for cell in cells for stage, (found, _) in cell["artifacts"].items() if found == digest}


@pytest.fixture(scope="module")
def suite(make_project: Callable[[], Project]) -> Project:
    """A manifest in a folder of a repository: three rows on two targets, one cell red, all of them recorded."""
    project = make_project()
    project.write({f"ci/{name}": text for name, text in FILES.items()})
    project.write({".git/HEAD": "", "dodo.py": DODO, "ci/hostile.toml": AMD_ONLY})
    project.check("ci/portcheck.toml", "-q")
    return project


def test_one_check_writes_every_format(suite: Project) -> None:
    arguments = [word for name, file in ASKED.items() if name != "json" for word in (f"--{name}", file)]
    ran = suite.check("ci/portcheck.toml", *arguments)

    assert ran.status == 1
    conforms(ran.report, "portcheck-report-1")
    junit = JUnitXml.fromfile(str(suite.folder / "junit.xml"))
    (result,) = json.loads((suite.folder / "portcheck.sarif").read_text())["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert (junit.tests, junit.failures, junit.errors, junit.skipped) == (6, 1, 0, 0)
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("ci/kernels.py", LINE)
    assert "| `tgamma` | ok | **front:A** |" in (suite.folder / "report.md").read_text()
    shown = page_data(suite.folder / "report.html")
    stages = {stage for digest in shown["outputs"]["texts"] for stage in stages_of(shown, digest)}
    assert shown["headline"] == "6 cells: 5 ok, 1 failed (1 new)"
    assert {"ttir", "ttgir", "llir", "ptx", "amdgcn"} <= stages


def test_a_report_from_the_cache_is_the_same_and_is_written_once(suite: Project) -> None:
    suite.check("ci/portcheck.toml", "--sarif", "a.sarif", "--markdown", "a.md", "--html", "a.html")
    arguments = ("report", "ci/portcheck.toml", "--sarif", "b.sarif", "--markdown", "b.md", "--html", "b.html")
    outputs = [suite.portcheck(*arguments)[2] for _ in range(2)]

    for suffix in ("sarif", "md"):
        assert (suite.folder / f"a.{suffix}").read_bytes() == (suite.folder / f"b.{suffix}").read_bytes()
    assert "unchanged" not in outputs[0]
    assert outputs[1].count("unchanged, not written again") == 3
    first, again = (page_data(suite.folder / name)["outputs"] for name in ("a.html", "b.html"))
    assert first == again


def test_github_is_told_at_the_failing_line(suite: Project) -> None:
    suite.env["GITHUB_STEP_SUMMARY"] = str(suite.folder / "summary.md")
    ran = suite.check("ci/portcheck.toml", "--github")
    del suite.env["GITHUB_STEP_SUMMARY"]

    stop, *lines = ran.out.splitlines()
    token = stop.removeprefix("::stop-commands::")
    after = lines[lines.index(f"::{token}::") + 1 :]
    assert after[0].startswith(
        f"::error file=ci/kernels.py,line={LINE},col=17,title=tgamma%3A frontend-error in frontend::"
    )
    assert after[1].startswith("::notice title=portcheck::6 cells: 5 ok, 1 failed (1 new)")
    assert len(after) == 2
    assert (suite.folder / "summary.md").read_text().startswith("## portcheck: 6 cells: 5 ok, 1 failed (1 new)\n")


def test_quiet_github_gets_the_commands_and_nothing_else(suite: Project) -> None:
    ran = suite.check("ci/portcheck.toml", "--github", "-q")

    assert [line.split(" ")[0] for line in ran.out.splitlines()] == ["::error", "::notice"]


def test_any_row_name_will_do(suite: Project) -> None:
    ran = suite.check(
        "ci/hostile.toml", "--junit", "h.xml", "--sarif", "h.sarif", "--markdown", "h.md", "--github", "-q"
    )

    assert ran.status == 1
    assert JUnitXml.fromfile(str(suite.folder / "h.xml")).failures == 1
    assert len(json.loads((suite.folder / "h.sarif").read_text())["runs"][0]["results"]) == 1
    assert r'| `a\|b "<i>]]>" %0A::error::` | ok | **front:A** |' in (suite.folder / "h.md").read_text()
    assert len(ran.out.splitlines()) == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--junit", "ci"], "--junit ci: is a folder: name a file in it, for example ci/junit.xml"),
        (["--sarif", "no/where.sarif"], "--sarif no/where.sarif: there is no folder no: create it first"),
        (["--junit", "x", "--markdown", "./x"], "--markdown x: is the file of --junit, too: name another"),
    ],
)
def test_a_file_that_cannot_be_is_refused_before_anything_runs(suite: Project, arguments: list[str], said: str) -> None:
    ran = suite.check("ci/portcheck.toml", *arguments)

    assert (ran.status, ran.out, ran.err) == (2, "", f"portcheck: {said}\n")


def test_what_selects_nothing_writes_nothing(suite: Project) -> None:
    ran = suite.check("ci/portcheck.toml", "-k", "nothing", "--junit", "none.xml", "--github")

    assert (ran.status, ran.out) == (2, "")
    assert not (suite.folder / "none.xml").exists()


def test_a_check_since_a_revision_that_differs_in_nothing_is_green_in_every_format(suite: Project) -> None:
    (suite.folder / ".git/HEAD").unlink()
    for arguments in (["init", "-q"], ["add", "ci"], ["commit", "-qm", "all"]):
        git(suite.folder, *arguments)
    ran = suite.check("ci/portcheck.toml", "--since", "HEAD", "--junit", "since.xml", "--github")
    junit = JUnitXml.fromfile(str(suite.folder / "since.xml"))

    assert ran.status == 0, ran.err
    assert (junit.tests, junit.failures, junit.errors, junit.skipped) == (1, 0, 0, 1)
    assert ran.out.startswith("::notice title=portcheck::since HEAD")


def test_doit_writes_a_format_only_if_it_would_show_something_else(suite: Project) -> None:
    (suite.folder / "junit.xml").unlink(missing_ok=True)
    unchanged = "portcheck: junit.xml: unchanged, not written again\n"

    _, _, first = suite.doit("junit")
    status, out, second = suite.doit("junit")

    assert (unchanged in first, unchanged in second) == (False, True)
    assert (status, "1 failed (1 new)" in out) == (1, True)

    kernels = suite.folder / "ci/kernels.py"
    text = kernels.read_text()
    kernels.write_text("\n" + text)  # what fails is a line further down
    _, _, third = suite.doit("junit")
    kernels.write_text(text)
    assert unchanged not in third


def test_doit_writes_all_that_the_dodo_names_and_what_a_task_is_told_to(suite: Project) -> None:
    for name in ("junit.xml", "portcheck.sarif"):
        (suite.folder / name).unlink(missing_ok=True)
    suite.doit()
    suite.doit("markdown", "-o", "asked.md")

    assert (suite.folder / "junit.xml").exists()
    assert (suite.folder / "portcheck.sarif").exists()
    assert (suite.folder / "asked.md").read_text().startswith("## portcheck: 6 cells")


def test_an_unknown_format_in_a_dodo_is_one_clear_error(suite: Project) -> None:
    (suite.folder / "dodo.py").rename(suite.folder / "kept.py")
    suite.write({"dodo.py": DODO.replace("junit=", "jnuit=")})
    status, _, err = suite.doit("portcheck")
    (suite.folder / "kept.py").rename(suite.folder / "dodo.py")

    assert (status, err) == (2, "portcheck: portcheck_suite(jnuit=…): no such format: did you mean junit?\n")

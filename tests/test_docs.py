"""The docs say what the code says, and their links lead somewhere."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def build() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_build", ROOT / "docs/build.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_docs_have_no_problems(build: ModuleType) -> None:
    assert build.problems() == []


def test_the_reference_of_the_commands_is_what_help_says(build: ModuleType) -> None:
    page = build.COMMANDS_PAGE.read_text(encoding="utf-8")
    assert page == build.with_commands(page), "run: doit docs"


def test_the_known_failures_are_those_of_the_signatures(build: ModuleType) -> None:
    page = build.SIGNATURES_PAGE.read_text(encoding="utf-8")
    assert page == build.with_part(page, build.signature_reference()), "run: doit docs"


def test_writing_the_reference_keeps_what_is_around_it(build: ModuleType) -> None:
    page = f"before\n{build.BEGIN}\nstale words\n{build.END}after\n"
    written = build.with_commands(page)
    assert written.startswith("before\n") and written.endswith("after\n")
    assert "stale words" not in written
    assert "## portcheck cache gc" in written


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("see [it](gone.md)", "link to gone.md: there is no such file"),
        ("see [it](#a-heading)", "link to #a-heading: there is no such heading"),
        ("see [it](page.md#nothing)", "link to page.md#nothing: there is no such heading"),
    ],
)
def test_a_broken_link_is_found(build: ModuleType, tmp_path: Path, text: str, problem: str) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"# Title\n\n{text}\n")
    assert build.broken_links([page]) == [f"page.md: {problem}"]


def test_links_that_lead_somewhere_and_code_are_no_problem(build: ModuleType, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A [title], `so`\n\n[up](#a-title-so) [web](https://x.example/y)\n\n```c\na[0](b)\n```\n")
    assert build.broken_links([page]) == []


def test_a_page_that_nothing_leads_to_is_found(build: ModuleType, tmp_path: Path) -> None:
    first, second = tmp_path / "README.md", tmp_path / "second.md"
    first.write_text("# First\n")
    second.write_text("# Second\n")
    assert build.unreached([first, second]) == ["second.md: no page links to it"]
    first.write_text("# First\n\n[second](second.md)\n")
    assert build.unreached([first, second]) == []

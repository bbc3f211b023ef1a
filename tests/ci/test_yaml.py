"""The YAML that we ship and show is what GitHub, GitLab and pre-commit take, as far as their schemas say."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.composite import ACTION

ROOT = Path(__file__).parent.parent.parent
OURS = "OWNER/portcheck"

# How a block of YAML in the docs begins → the schema for it.
SCHEMAS = {
    "# .github/workflows/portcheck.yml": "vendor.github-workflows",
    "# steps": "vendor.github-workflows",
    "# .gitlab-ci.yml": "vendor.gitlab-ci",
    "# .pre-commit-config.yaml": None,
}
BLOCKS = [
    pytest.param(body, id=f"{page.stem}-{number}")
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    for number, body in enumerate(re.findall(r"^```ya?ml\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL))
]


def conforms(path: Path, schema: str) -> None:
    """Fails unless a file is as a published schema says."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(path)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize(
    ("file", "schema"), [("action.yml", "vendor.github-actions"), ("ci/gitlab.yml", "vendor.gitlab-ci")]
)
def test_what_we_ship_is_as_the_schema_says(file: str, schema: str) -> None:
    conforms(ROOT / file, schema)


def test_there_is_yaml_in_the_docs() -> None:
    assert len(BLOCKS) > 3


@pytest.mark.parametrize("block", BLOCKS)
def test_yaml_in_the_docs_is_as_the_schema_says(block: str, tmp_path: Path) -> None:
    first = block.partition("\n")[0]
    assert first in SCHEMAS, "say in a comment what file it is"
    value = yaml.safe_load(block)
    if first == "# steps":
        value = {"on": "push", "jobs": {"job": {"runs-on": "ubuntu-latest", "steps": value}}}
    path = tmp_path / "shown.yml"
    path.write_text(yaml.safe_dump({"on" if key is True else key: one for key, one in value.items()}))

    if schema := SCHEMAS[first]:
        conforms(path, schema)
    else:
        command = [sys.executable, "-m", "pre_commit", "validate-config", str(path)]
        assert subprocess.run(command, check=False).returncode == 0


@pytest.mark.parametrize("block", BLOCKS)
def test_the_action_has_what_the_docs_use_of_it(block: str) -> None:
    used = list(steps_of_ours(yaml.safe_load(block)))

    assert {name for step in used for name in step.get("with", {})} <= ACTION["inputs"].keys()
    assert set(re.findall(r"steps\.portcheck\.outputs\.([\w-]+)", block)) <= ACTION["outputs"].keys()


def steps_of_ours(value: Any) -> Iterator[dict[str, Any]]:
    """Every step that uses the action, however deep it lies."""
    if isinstance(value, dict) and str(value.get("uses", "")).startswith(f"{OURS}@"):
        yield value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    for one in inner:
        yield from steps_of_ours(one)


def test_the_page_has_a_row_for_every_input_and_output() -> None:
    page = (ROOT / "docs/ci.md").read_text()
    rows = re.findall(r"^\| (`.*?) \|", page, re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`([\w-]+)`", row)}

    assert ACTION["inputs"].keys() | ACTION["outputs"].keys() <= named

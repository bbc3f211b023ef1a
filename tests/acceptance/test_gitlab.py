"""The script of ci/gitlab.yml, run as GitLab's runner would, with the real Triton; pip is played."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from junitparser import JUnitXml

from tests.acceptance.test_doit import FILES
from tests.conftest import Project

JOB: dict[str, Any] = yaml.safe_load((Path(__file__).parent.parent.parent / "ci/gitlab.yml").read_text())[".portcheck"]


@pytest.fixture
def checkout(make_project: Callable[[], Project]) -> Project:
    """A project with one red cell of six, and a pip that notes what it is asked for."""
    project = make_project()
    tools = project.cache.with_name("tools")
    tools.mkdir()
    (tools / "pip").write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tools}/asked\n')
    (tools / "pip").chmod(0o755)
    project.write({name: FILES[name] for name in ("portcheck.toml", "kernels.py")})
    project.env = {"PATH": os.pathsep.join([str(tools), str(Path(sys.executable).parent), os.environ["PATH"]])}
    return project


def run(project: Project, **variables: str) -> tuple[int, str]:
    """Run the job with variables; the runner joins the lines of `script` and stops at the first that fails."""
    given = {name: str(value) for name, value in {**JOB["variables"], **variables}.items()}
    expanded = {name: value.replace("$CI_PROJECT_DIR", str(project.folder)) for name, value in given.items()}
    status, out = 0, ""
    for part in ("script", "after_script"):
        ran = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", "\n".join(JOB[part])],
            cwd=project.folder,
            env={**project.environment(), **expanded},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        status, out = (ran.returncode if part == "script" else status), out + ran.stdout + ran.stderr
    return status, out


def test_a_failing_job_leaves_reports_and_a_cache_behind(checkout: Project) -> None:
    status, out = run(checkout, PORTCHECK="git+https://example.com/portcheck", PORTCHECK_ARGS="-k copy -k tgamma")

    assert status == 1, out
    assert JUnitXml.fromfile(str(checkout.folder / JOB["artifacts"]["reports"]["junit"])).failures == 1
    assert (checkout.folder / JOB["artifacts"]["paths"][0] / "report.json").exists()
    assert list((checkout.folder / JOB["cache"]["paths"][0]).rglob("back/*/*"))
    asked = (checkout.cache.with_name("tools") / "asked").read_text().splitlines()
    assert asked == ["install", "git+https://example.com/portcheck", "triton", "-e", "."]


def test_a_job_that_does_not_say_what_portcheck_is_is_told(checkout: Project) -> None:
    status, out = run(checkout)

    assert status == 1
    assert "PORTCHECK: say what pip installs as portcheck" in out


def test_only_merge_requests_of_forks_write_nothing() -> None:
    fork, own, main = JOB["rules"]

    assert "$CI_MERGE_REQUEST_SOURCE_PROJECT_ID != $CI_PROJECT_ID" in fork["if"]
    assert fork["variables"] == {"PORTCHECK_CACHE_POLICY": "pull", "PORTCHECK_WRITE_ZONE": ""}
    assert own["variables"] == {"PORTCHECK_WRITE_ZONE": "pr"}
    assert main == {"if": "$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH"}
    assert JOB["cache"]["policy"] == "$PORTCHECK_CACHE_POLICY"
    assert JOB["variables"]["PORTCHECK_CACHE_POLICY"] == "pull-push"

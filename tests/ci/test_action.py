"""What the script behind action.yml decides before anything runs: what to install with, and who may write."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.composite import ACTION, BRANCH, FORK, OWN, PULL, PUSH, TARGET, Event

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def action() -> Any:
    """The script, as a module."""
    spec = importlib.util.spec_from_file_location("ci_action", ROOT / "ci/action.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def commands(action: Any, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that were called; all of them succeed."""
    called: list[list[str]] = []

    def call(command: list[str], **_: Any) -> int:
        called.append(command)
        return 0

    monkeypatch.setattr(action.subprocess, "call", call)
    return called


def started_by(event: Event, monkeypatch: pytest.MonkeyPatch, folder: Path, env: Mapping[str, str] = {}) -> None:
    """Let an event have started the job."""
    (folder / "event.json").write_text(json.dumps(event.payload()))
    for name in ("PORTCHECK_WRITE_ZONE", "GITHUB_EVENT_PATH"):
        monkeypatch.delenv(name, raising=False)
    variables = {
        "GITHUB_EVENT_NAME": event.name,
        "GITHUB_EVENT_PATH": str(folder / "event.json"),
        "GITHUB_REF": event.ref,
        "GITHUB_REPOSITORY": OWN,
        **env,
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize(
    ("event", "saves", "zone"),
    [
        (PUSH, True, None),
        (Event("schedule"), True, None),
        (Event("workflow_dispatch"), True, None),
        (BRANCH, True, "pr"),
        (Event(ref="refs/tags/main"), True, "pr"),
        (PULL, True, "pr"),
        (FORK, False, ""),
        (Event("pull_request", "refs/pull/3/merge", ""), False, ""),
        (Event("pull_request", "refs/pull/3/merge"), False, ""),
        (TARGET, False, ""),
        (Event("workflow_run"), False, ""),
        (Event("issue_comment"), False, ""),
        (Event("merge_group", "refs/heads/gh-readonly-queue/main/pr-1"), False, ""),
    ],
)
def test_the_event_decides_what_a_job_may_write(
    action: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, event: Event, saves: bool, zone: str | None
) -> None:
    started_by(event, monkeypatch, tmp_path)

    assert action._may_save() is saves
    assert action._zone() == ({} if zone is None else {"PORTCHECK_WRITE_ZONE": zone})


@pytest.mark.parametrize("content", ["", "[]", "{", '{"pull_request": null}', '{"pull_request": {"head": null}}'])
def test_of_what_cannot_be_read_nothing_is_trusted(
    action: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: str
) -> None:
    started_by(PULL, monkeypatch, tmp_path)
    (tmp_path / "event.json").write_text(content)

    assert action._may_save() is False
    assert action._zone() == {"PORTCHECK_WRITE_ZONE": ""}


def test_a_job_may_name_another_zone_but_for_a_fork(
    action: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    started_by(PULL, monkeypatch, tmp_path, {"PORTCHECK_WRITE_ZONE": "review"})
    assert action._zone() == {"PORTCHECK_WRITE_ZONE": "review"}

    started_by(FORK, monkeypatch, tmp_path, {"PORTCHECK_WRITE_ZONE": "review"})
    assert action._zone() == {"PORTCHECK_WRITE_ZONE": ""}


def test_pip_installs_this_checkout_and_what_is_asked_for(action: Any, commands: list[list[str]]) -> None:
    assert action.install({"install": "triton==3.9.0 -e '.[dev]'"}) == 0

    assert commands[-1][:4] == [sys.executable, "-m", "pip", "install"]
    assert commands[-1][-4:] == [str(ROOT), "triton==3.9.0", "-e", ".[dev]"]


def test_uv_installs_where_there_is_no_pip(
    action: Any, commands: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(action, "_has_pip", lambda: False)
    monkeypatch.setattr(action.shutil, "which", lambda _: "/bin/uv")

    action.install({"install": ""})

    assert commands == [["uv", "pip", "install", "--python", sys.executable, str(ROOT)]]


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("_has_pip", lambda: False, "has no pip, and there is no uv: use actions/setup-python"),
        ("OLDEST", (99, 0), "portcheck needs 3.11: use actions/setup-python"),
    ],
)
def test_a_python_that_will_not_do_is_told(
    action: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, value: Any, told: str
) -> None:
    monkeypatch.setattr(action, name, value)
    monkeypatch.setattr(action.shutil, "which", lambda _: None)
    monkeypatch.setattr(sys, "argv", ["action.py", "install"])
    monkeypatch.setenv("INPUTS", '{"install": ""}')

    assert action.main() == 3
    out = capsys.readouterr().out
    assert out.startswith("::error title=portcheck::") and told in out


def test_an_installation_that_fails_names_the_command(action: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(action, "_has_pip", lambda: True)
    monkeypatch.setattr(action.subprocess, "call", lambda *_, **__: 1)

    with pytest.raises(action.Wrong, match=r"-m pip install .* 'triton == 9' failed: see its output above"):
        action.install({"install": "'triton == 9'"})


def test_every_input_has_a_default_and_is_read(action: Any) -> None:
    source = (ROOT / "ci/action.py").read_text()
    only_in_steps = {"python", "working-directory"}

    assert {name for name, one in ACTION["inputs"].items() if not isinstance(one["default"], str)} == set()
    assert {name for name in ACTION["inputs"] if f'"{name}"' not in source} <= only_in_steps

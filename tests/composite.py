"""A small runner of composite actions: as much of GitHub's as action.yml uses, on this machine.

Scripts run in bash, as there. Other actions are not run: `actions/cache` is played by folders, the rest is noted.
Expressions are those that action.yml has; any other is an error.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parent.parent
ACTION: Mapping[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
OWN = "us/kernels"

_FOREIGN = ("PORTCHECK_", "TRITON_", "MLIR_", "LLVM_", "AMDGCN_", "PYTEST_", "DOIT_", "PYTHON", "GITHUB_", "RUNNER_")
_EXPRESSION = re.compile(r"\$\{\{ *(.*?) *\}\}")


@dataclass(frozen=True)
class Event:
    """What starts a workflow, and for which code."""

    name: str = "push"
    ref: str = "refs/heads/main"
    head: str | None = None  # of a pull request: the repository that its branch is in; "": gone

    def payload(self) -> dict[str, Any]:
        """As GitHub writes it to GITHUB_EVENT_PATH, as far as it matters here."""
        payload: dict[str, Any] = {"repository": {"full_name": OWN, "default_branch": "main"}}
        if self.head is not None:
            payload["pull_request"] = {"head": {"repo": {"full_name": self.head} if self.head else None}}
        return payload


PUSH = Event()
BRANCH = Event(ref="refs/heads/feature")
PULL = Event("pull_request", "refs/pull/1/merge", OWN)
FORK = Event("pull_request", "refs/pull/2/merge", "them/kernels")
TARGET = Event("pull_request_target", "refs/heads/main", "them/kernels")


@dataclass
class Ran:
    """What a run of the action left behind."""

    failed: bool
    log: str
    outputs: Mapping[str, str]
    summary: str
    used: Mapping[str, Mapping[str, str]]  # actions that were used, without their version → their inputs


@dataclass
class Workplace:
    """A repository that is checked out, a runner, and GitHub's caches."""

    folder: Path  # the workspace
    runner: Path
    python: str
    env: dict[str, str] = field(default_factory=dict)  # of the job
    caches: dict[str, Path] = field(default_factory=dict)  # key → what was saved
    runs: int = 0

    def run(self, event: Event = PUSH, skip: tuple[str, ...] = ("Install portcheck",), **inputs: str) -> Ran:
        """Run the action in a new job, with inputs; `_` in their names stands for `-`."""
        return Job(self, event, {name.replace("_", "-"): value for name, value in inputs.items()}, skip).run()


class Job:
    """One run of the action."""

    def __init__(self, place: Workplace, event: Event, inputs: Mapping[str, str], skip: tuple[str, ...] = ()) -> None:
        """Prepare the runner's files."""
        unknown = inputs.keys() - ACTION["inputs"].keys()
        assert not unknown, unknown
        defaults = {name: one["default"] for name, one in ACTION["inputs"].items()}
        place.runs += 1
        self._place, self._skip = place, skip
        self._inputs = {**defaults, "python": place.python, **inputs}
        self._temp = place.runner / f"{place.runs}"
        self._temp.mkdir(parents=True)
        (self._temp / "event.json").write_text(json.dumps(event.payload()))
        (self._temp / "summary").touch()
        self._environ = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)} | {
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_EVENT_NAME": event.name,
            "GITHUB_EVENT_PATH": str(self._temp / "event.json"),
            "GITHUB_REF": event.ref,
            "GITHUB_REPOSITORY": OWN,
            "GITHUB_RUN_ATTEMPT": "1",
            "GITHUB_RUN_ID": f"10{place.runs}",
            "GITHUB_STEP_SUMMARY": str(self._temp / "summary"),
            "GITHUB_WORKSPACE": str(place.folder),
            "RUNNER_ARCH": "X64",
            "RUNNER_OS": "Linux",
            "RUNNER_TEMP": str(self._temp),
            **place.env,
        }
        self._failed = False
        self._log = ""
        self._used: dict[str, Mapping[str, str]] = {}

    def run(self) -> Ran:
        """Run all steps whose condition holds."""
        for step in ACTION["runs"]["steps"]:
            if step["name"] not in self._skip and self._holds(step.get("if", "")):
                self._step(step)
        outputs = {name: self._expand(one["value"]) for name, one in ACTION["outputs"].items()}
        return Ran(self._failed, self._log, outputs, (self._temp / "summary").read_text(), self._used)

    def _step(self, step: Mapping[str, Any]) -> None:
        if "uses" in step:
            name, _, _ = step["uses"].partition("@")
            self._used[name] = {key: self._expand(value) for key, value in step["with"].items()}
            if name in _PLAYED:
                _PLAYED[name](self._place, **self._used[name])
            return
        with self.start(step) as process:
            self._log += process.communicate(timeout=300)[0]
        self._failed |= process.returncode != 0

    def start(self, step: Mapping[str, Any]) -> subprocess.Popen[str]:
        """Start a step's script as the runner does."""
        output = self._output(step.get("id", "none"))
        output.touch()
        env = {name: self._expand(value) for name, value in step["env"].items()}
        script = self._temp / "script.sh"
        script.write_text(step["run"])  # no expression in it: test_action sees to that
        return subprocess.Popen(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=self._place.folder / self._expand(step["working-directory"]),
            env={**self._environ, **env, "GITHUB_OUTPUT": str(output)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def outputs(self, step: str) -> dict[str, str]:
        """What a step has said in GITHUB_OUTPUT, in the form with delimiters; nothing if it did not run."""
        path = self._output(step)
        text = path.read_text() if path.exists() else ""
        found = re.findall(r"^([\w-]+)<<(\w+)\n(.*?)\n\2$", text, re.MULTILINE | re.DOTALL)
        return {name: value for name, _, value in found}

    def _output(self, step: str) -> Path:
        return self._temp / f"output-{step}"

    def _holds(self, condition: str) -> bool:
        terms = [term.strip() for term in condition.split("&&") if term.strip()]
        always = "always()" in terms
        return (always or not self._failed) and all(self._term(term) for term in terms if term != "always()")

    def _term(self, term: str) -> bool:
        asked = re.fullmatch(r"(\S+) (==|!=) '(\w*)'", term)
        assert asked, term
        return (self._value(asked[1]) == asked[3]) == (asked[2] == "==")

    def _expand(self, text: str) -> str:
        return _EXPRESSION.sub(lambda found: self._value(found[1]), text)

    def _value(self, expression: str) -> str:
        if expression == "toJSON(inputs)":
            return json.dumps(self._inputs, indent=2)
        if of_step := re.fullmatch(r"steps\.(\w+)\.outputs\.([\w-]+)", expression):
            return self.outputs(of_step[1]).get(of_step[2], "")
        asked = re.fullmatch(r"inputs\.([\w-]+)", expression)
        assert asked, expression
        return self._inputs[asked[1]]


def _restore(place: Workplace, **inputs: str) -> None:
    prefixes = [inputs["key"], *inputs["restore-keys"].splitlines()]
    for prefix in prefixes:
        for key in reversed(place.caches):
            if key.startswith(prefix):
                shutil.copytree(place.caches[key], inputs["path"], dirs_exist_ok=True)
                return


def _save(place: Workplace, **inputs: str) -> None:
    kept = place.runner / f"saved{len(place.caches)}"
    shutil.copytree(inputs["path"], kept)
    assert inputs["key"] not in place.caches
    place.caches[inputs["key"]] = kept


_PLAYED = {"actions/cache/restore": _restore, "actions/cache/save": _save}

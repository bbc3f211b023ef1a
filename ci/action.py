"""What the steps of action.yml run, in the interpreter that has the user's packages: `action.py install|plan|check`.

Inputs come as JSON in INPUTS, outputs go to GITHUB_OUTPUT, so that no text of a workflow ever becomes part of a script.
What a job may write is decided by the event that started it: see TRUSTED.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ACTION = Path(__file__).resolve().parent.parent
PORTCHECK = [sys.executable, "-P", "-m", "portcheck"]
OLDEST = (3, 11)

# The events whose workflow and code are of this repository. A pull request counts if its branch is.
TRUSTED = ("push", "schedule", "workflow_dispatch", "pull_request")
PULL_REQUESTS = "pr"  # the zone of a remote for what is not the default branch

CACHE = {"true": ("restore", "save"), "read": ("restore",), "false": ()}  # what the input `cache` lets happen


class Wrong(Exception):
    """An input or the machine is wrong: told in one line, with the remedy."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


def install(inputs: Mapping[str, str]) -> int:
    """Install portcheck, of this very checkout, and whatever else the workflow asks for."""
    if sys.version_info < OLDEST:
        version = sys.version.split()[0]
        raise Wrong(f"{sys.executable} is Python {version}, and portcheck needs 3.11: use actions/setup-python", 3)
    wanted = [str(ACTION), *_words("install", inputs["install"])]
    if _has_pip():
        command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", *wanted]
    elif shutil.which("uv"):
        command = ["uv", "pip", "install", "--python", sys.executable, *wanted]
    else:
        raise Wrong(f"{sys.executable} has no pip, and there is no uv: use actions/setup-python", 3)
    if subprocess.call(command, stdin=subprocess.DEVNULL):
        raise Wrong(f"{shlex.join(command)} failed: see its output above", 3)
    return 0


def plan(inputs: Mapping[str, str]) -> int:
    """Say where the cache is, what it is saved as and found by, and what the artifact is called."""
    allowed = _cache_use(inputs)
    about = [inputs[name] for name in ("working-directory", "manifest", "targets", "triton", "kernels")]
    digest = hashlib.sha256(json.dumps([about, sys.version_info[:2]]).encode()).hexdigest()[:12]
    family = f"portcheck-{_format()}-{os.environ['RUNNER_OS']}-{os.environ['RUNNER_ARCH']}-"
    run = f"{os.environ['GITHUB_RUN_ID']}-{os.environ['GITHUB_RUN_ATTEMPT']}"
    parts = [re.sub(r"[^\w.-]+", "-", inputs[name]).strip("-") for name in ("targets", "triton", "kernels")]
    artifact = inputs["artifact"] or "-".join(filter(None, ["portcheck", *parts]))[:100]
    _output(
        {
            "cache-path": str(_cache_folder(inputs)),
            "cache-key": f"{family}{digest}-{run}",
            "cache-prefixes": f"{family}{digest}-\n{family}",
            "restore": _yes("restore" in allowed),
            "artifact": "" if artifact == "none" else artifact,
        }
    )
    return 0


def check(inputs: Mapping[str, str]) -> int:
    """Run `portcheck check`, leave its reports behind, and end with its status."""
    reports = _reports(inputs)
    cache = _cache_folder(inputs)
    before = _records(cache)
    environ = {**os.environ, "PORTCHECK_CACHE": str(cache), **_zone()}
    status = _run([*PORTCHECK, *arguments(inputs, reports)], environ)
    made = {name: str(path.resolve()) for name, path in reports.items() if path.is_file()}
    save = "save" in _cache_use(inputs) and _may_save() and not _records(cache) <= before
    if save:
        collect = [*PORTCHECK, "cache", "gc", "--dir", str(cache), "--max-size", inputs["cache-size"]]
        subprocess.call(collect, stdout=subprocess.DEVNULL)
    _output(
        {
            "status": str(status),
            "files": "\n".join(made.values()),
            "save": _yes(save),
            **made,
            **_summary(made.get("json")),
        }
    )
    return status


def arguments(inputs: Mapping[str, str], reports: Mapping[str, Path]) -> list[str]:
    """The command line. What the workflow adds comes first, so that the reports go where the outputs say."""
    options = {"targets": "--targets", "triton": "--triton", "baseline": "--baseline", "since": "--since"}
    words = ["check", *_words("args", inputs["args"])]
    words += [f"{option}={_one_line(inputs[name])}" for name, option in options.items() if inputs[name].strip()]
    words += [f"--kernel={glob.strip()}" for glob in inputs["kernels"].splitlines() if glob.strip()]
    words += [f"--{name}={path}" for name, path in reports.items()]
    return [*words, "--github", *(["--", inputs["manifest"]] if inputs["manifest"] else [])]


def _reports(inputs: Mapping[str, str]) -> dict[str, Path]:
    """Format → the file for it, in a folder that is there; what an earlier run left in it is removed."""
    from portcheck.report.formats import FORMATS

    folder = Path(inputs["reports"])
    try:
        folder.mkdir(parents=True, exist_ok=True)
        reports = {form.name: folder / form.example for form in FORMATS}
        for path in reports.values():
            path.unlink(missing_ok=True)
    except OSError as error:
        raise Wrong(f"reports: {folder}: {error.strerror}: name a folder that can be made", 2) from None
    return reports


def _summary(report: str | None) -> dict[str, str]:
    """The counts of the JSON report; nothing if there is none, since nothing was checked then."""
    if report is None:
        return {}
    summary = json.loads(Path(report).read_text(encoding="utf-8"))["summary"]
    return {name: str(summary[name]) for name in ("cells", "failed", "new")}


def _run(command: list[str], environ: Mapping[str, str]) -> int:
    """Run a command and return its status. A signal to this process is one to the command, which knows how to end."""
    with subprocess.Popen(command, env=dict(environ), stdin=subprocess.DEVNULL) as process:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # runners use all three (actions/runner#1309)
            signal.signal(number, lambda *_: process.send_signal(signal.SIGINT))
        status = process.wait()
    return 128 - status if status < 0 else status


def _event() -> Mapping[str, Any]:
    """What started the workflow. Nothing is known of an event that cannot be read, so nothing is trusted."""
    try:
        event = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
    except (KeyError, OSError, ValueError):
        return {}
    return event if isinstance(event, dict) else {}


def _may_save() -> bool:
    """Is the code that runs this repository's own, and the cache that it saves one that only its own branch reads?

    `pull_request_target`, `workflow_run` and the like save for the default branch, and may have checked out anything.
    """
    event, name = _event(), os.environ.get("GITHUB_EVENT_NAME", "")
    if name != "pull_request":
        return name in TRUSTED
    head = ((event.get("pull_request") or {}).get("head") or {}).get("repo") or {}  # null: the fork is gone
    return head.get("full_name") == os.environ.get("GITHUB_REPOSITORY")


def _zone() -> dict[str, str]:
    """The zone of the manifest's remote to write to: the manifest's for the default branch, another, or none."""
    if not _may_save():
        return {"PORTCHECK_WRITE_ZONE": ""}
    main = (_event().get("repository") or {}).get("default_branch")
    if main and os.environ.get("GITHUB_REF") == f"refs/heads/{main}":
        return {}
    return {"PORTCHECK_WRITE_ZONE": os.environ.get("PORTCHECK_WRITE_ZONE", PULL_REQUESTS)}


def _cache_use(inputs: Mapping[str, str]) -> tuple[str, ...]:
    if inputs["cache"] not in CACHE:
        raise Wrong(f'cache: "{inputs["cache"]}": write one of {", ".join(CACHE)}', 2)
    return CACHE[inputs["cache"]]


def _cache_folder(inputs: Mapping[str, str]) -> Path:
    """Where portcheck keeps its cache: as the manifest or the job say, else in a folder that ends with the job.

    A folder that outlives the job would, on a runner of one's own, bring what a fork wrote to the next job.
    """
    from portcheck.cache import resolve_cache_dir
    from portcheck.cli.arguments import manifest_path
    from portcheck.errors import PortcheckError
    from portcheck.manifest.loader import load
    from portcheck.storage import cache_dir

    os.environ["PORTCHECK_CACHE"] = os.environ.get("PORTCHECK_CACHE") or f"{os.environ['RUNNER_TEMP']}/portcheck-cache"
    try:
        return cache_dir(load(manifest_path(False, inputs["manifest"] or None))).absolute()
    except PortcheckError:  # the check says so
        return resolve_cache_dir(None, os.environ).absolute()


def _records(cache: Path) -> set[str]:
    """The files in a cache that another machine can use."""
    from portcheck.cache.layout import LOCAL_KIND, walk

    return {entry.path for entry in walk(cache) if entry.kind != LOCAL_KIND and not entry.temporary}


def _format() -> int:
    from portcheck.cache.envelope import FORMAT_VERSION

    return FORMAT_VERSION


def _has_pip() -> bool:
    return subprocess.call([sys.executable, "-m", "pip", "--version"], stdout=subprocess.DEVNULL) == 0


def _words(name: str, text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise Wrong(f"{name}: {error} in {text!r}: quote as in a shell", 2) from None


def _one_line(text: str) -> str:
    """A list that a workflow spreads over lines, as the command line takes it."""
    return ",".join(line.strip().strip(",") for line in text.splitlines() if line.strip())


def _yes(answer: bool) -> str:
    return "true" if answer else "false"


def _output(values: Mapping[str, str]) -> None:
    """Give outputs to the workflow; a value may have any number of lines."""
    with Path(os.environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as file:
        file.writelines(_lines(values))


def _lines(values: Mapping[str, str]) -> Iterator[str]:
    for name, value in values.items():
        end = secrets.token_hex(16)
        yield f"{name}<<{end}\n{value}\n{end}\n"


def main() -> int:
    """Do what the one argument says; returns the exit status."""
    try:
        return {"install": install, "plan": plan, "check": check}[sys.argv[1]](json.loads(os.environ["INPUTS"]))
    except Wrong as wrong:
        told = str(wrong).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
        print(f"::error title=portcheck::{told}", flush=True)
        return wrong.status


if __name__ == "__main__":
    sys.exit(main())

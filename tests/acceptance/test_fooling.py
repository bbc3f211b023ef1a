"""Edits made to fool the keys: what changes is never answered by an old verdict, what does not is never compiled."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.acceptance.fooling import CHANGES, KEEPS, Edit, constant, kernel

if TYPE_CHECKING:
    from tests.conftest import Project, Ran

# Line numbers are in the code otherwise, and may be older than the source.
WITHOUT_LINES = {"TRITON_DISABLE_LINE_INFO": "1"}

# Edits of the file system that are no edit of a text: files before → what is done in the case's folder.
BY_HAND: dict[str, tuple[Mapping[str, str], Callable[[Path], None], Callable[[Path], None]]] = {
    "link_to_a_module": (
        {"kernel.py": kernel("G", "from CASE.cfg import G\n"), "v2.py": constant(2), "v3.py": constant(3)},
        lambda folder: _link(folder / "cfg.py", "v2.py"),
        lambda folder: _link(folder / "cfg.py", "v3.py"),
    ),
    "link_to_data": (
        {"kernel.py": kernel("G", "G = tl.constexpr(int(open(HERE + '/now/d').read()))\n"), "a/d": "2", "b/d": "3"},
        lambda folder: _link(folder / "now", "a"),
        lambda folder: _link(folder / "now", "b"),
    ),
    "name_that_a_link_leads_to": (
        {"kernel.py": kernel("G", "G = tl.constexpr(int(os.path.basename(os.path.realpath(HERE + '/now'))))\n")},
        lambda folder: _link(folder / "now", "2"),
        lambda folder: _link(folder / "now", "3"),
    ),
    "same_size_and_time": (
        {"kernel.py": kernel("G", "from CASE.cfg import G\n"), "cfg.py": constant(2)},
        lambda folder: None,
        lambda folder: _write_unseen(folder / "cfg.py", constant(3)),
    ),
    "older_file_moved_there": (
        {"kernel.py": kernel("G", "from CASE.cfg import G\n"), "cfg.py": constant(2), "old.py": constant(3)},
        lambda folder: os.utime(folder / "old.py", (1e9, 1e9)),
        lambda folder: os.replace(folder / "old.py", folder / "cfg.py"),
    ),
}

# What differs between two runs in the environment: (variables before, after), and the kernel that shows it.
ENVIRONMENT = {
    "a_variable_read_as_bytes": ({"GAIN": "2"}, {"GAIN": "3"}, "G = tl.constexpr(int(os.environb[b'GAIN']))\n"),
    # A name that only says where a run is; a CI job sets CI itself, so that one would tell nothing there.
    "a_name_among_all": ({}, {"JENKINS_JOB": "1"}, "G = tl.constexpr(2 + ('JENKINS_JOB' in set(os.environ)))\n"),
    "the_order_of_the_path": (
        {"PYTHONPATH": "{}/one:{}/two"},
        {"PYTHONPATH": "{}/two:{}/one"},
        "from gain import G\n",
    ),
    "another_portion_of_a_namespace": (
        {"PYTHONPATH": "{}/three:{}/four"},
        {"PYTHONPATH": "{}/three:{}/four"},
        "from portions.gain import G\n",
    ),
    "what_python_runs_at_its_start": (
        {"PYTHONPATH": "{}/start"},
        {"PYTHONPATH": "{}/start"},
        "import builtins\nG = tl.constexpr(builtins.GAIN)\n",
    ),
    "a_library_at_a_relative_path": (
        {"TRITON_LIBDEVICE_PATH": "library.bc"},
        {"TRITON_LIBDEVICE_PATH": "library.bc"},
        "from triton.language.extra import libdevice\nG = 2\n",
    ),
}
BESIDE = {
    "one/gain.py": constant(2),
    "two/gain.py": constant(3),
    "three/portions/other.py": "",
    "four/portions/gain.py": constant(2),
    "start/sitecustomize.py": "import builtins\nbuiltins.GAIN = 2\n",
    "library.bc": "not bitcode",
}
BESIDE_AFTER = {
    "three/portions/gain.py": constant(3),
    "start/sitecustomize.py": "import builtins\nbuiltins.GAIN = 3\n",
    "library.bc": "",
}


@pytest.fixture(scope="module")
def runs(make_project: Callable[[], Project]) -> tuple[Ran, Ran, Ran]:
    """All edits at once: before, after, and after with nothing in the cache."""
    edits: dict[str, Edit] = {**CHANGES, **{name: edit for name, (edit, _) in KEEPS.items()}}
    project = make_project()
    project.env = WITHOUT_LINES
    project.write({"portcheck.toml": manifest([*edits, *BY_HAND])})
    for name, edit in edits.items():
        put(project, name, edit.before)
    for name, (files, prepare, _) in BY_HAND.items():
        put(project, name, files)
        prepare(project.folder / name)
    before = project.check()
    for name, edit in edits.items():
        put(project, name, edit.after)
    for name, (_, _, change) in BY_HAND.items():
        change(project.folder / name)
    after = project.check()
    return before, after, replace(project, cache=project.cache.with_name("empty")).check()


@pytest.mark.parametrize("name", [*CHANGES, *BY_HAND])
def test_a_changed_result_is_compiled(runs: tuple[Ran, Ran, Ran], name: str) -> None:
    before, after, anew = (result(ran, name) for ran in runs)

    assert anew != before, "the edit changes nothing"
    assert after == anew
    assert runs[1].origins[f"{name}@cuda:90"] == "compiled"


@pytest.mark.parametrize("name", KEEPS)
def test_an_unchanged_result_is_not_compiled(runs: tuple[Ran, Ran, Ran], name: str) -> None:
    before, after, anew = (result(ran, name) for ran in runs)

    assert before == after == anew
    assert runs[1].origins[f"{name}@cuda:90"] == KEEPS[name][1]


@pytest.mark.parametrize("name", ENVIRONMENT)
def test_a_changed_environment_is_compiled(project: Project, name: str) -> None:
    variables, later, preamble = ENVIRONMENT[name]
    expression = "libdevice.exp(x)" if "libdevice" in preamble else "G"
    project.write({"portcheck.toml": manifest([name]), f"{name}/kernel.py": kernel(expression, preamble), **BESIDE})
    project.env = {**WITHOUT_LINES, **in_folder(variables, project)}
    before = project.check()
    project.write(BESIDE_AFTER)
    project.env = {**WITHOUT_LINES, **in_folder(later, project)}
    after = project.check()

    assert after.origins == {f"{name}@cuda:90": "compiled"}
    assert result(after, name) != result(before, name)


def test_what_python_runs_at_its_start_is_not_run_from_an_old_compiled_file(project: Project) -> None:
    """Python goes by size and whole seconds."""
    name = "what_python_runs_at_its_start"
    variables, _, preamble = ENVIRONMENT[name]
    project.write({"portcheck.toml": manifest([name]), f"{name}/kernel.py": kernel("G", preamble), **BESIDE})
    project.env = {**WITHOUT_LINES, **in_folder(variables, project)}
    before = project.check()
    _write_unseen(project.folder / "start/sitecustomize.py", BESIDE_AFTER["start/sitecustomize.py"])
    after = project.check()

    assert list((project.folder / "start/__pycache__").iterdir()), "there was no compiled file"
    assert after.origins == {f"{name}@cuda:90": "compiled"}
    assert result(after, name) != result(before, name)


def manifest(names: list[str]) -> str:
    """One row per folder."""
    rows = [
        f'[[kernel]]\nname = "{name}"\ntarget = "{name}/kernel.py:k"\n'
        'signature = { x_ptr = "*fp32:16", n = "i32" }\n'
        f"constants = {{ BLOCK = 256, NUMBER = {number} }}\n"
        for number, name in enumerate(names)
    ]
    return "[defaults]\ntargets = ['cuda:90']\n" + "".join(rows)


def put(project: Project, name: str, files: Mapping[str, str | None]) -> None:
    """Write or delete files of a case."""
    for path in (file for file, text in files.items() if text is None):
        (project.folder / name / path).unlink()
    texts = {f"{name}/{file}": text.replace("CASE", name) for file, text in files.items() if text is not None}
    project.write(texts)


def in_folder(variables: Mapping[str, str], project: Project) -> dict[str, str]:
    """Variables whose values name the project's folder as {}."""
    return {name: value.replace("{}", str(project.folder)) for name, value in variables.items()}


def result(ran: Ran, name: str) -> tuple[str, str | None, str | None]:
    """What became of a case: its verdict and the digests of its code."""
    cell = ran.cells[f"{name}@cuda:90"]
    digests = {stage: artifact["digest"] for stage, artifact in (cell["artifacts"] or {}).items()}
    message = ran.failure(f"{name}@cuda:90")["message"] if cell["verdict"] != "ok" else None
    return cell["verdict"], message, digests.get("ptx")


def _link(path: Path, to: str) -> None:
    path.unlink(missing_ok=True)
    path.symlink_to(to)


def _write_unseen(path: Path, text: str) -> None:
    before = path.stat()
    path.write_text(text)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

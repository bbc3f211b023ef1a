"""A machine without Triton and without the libraries that kernels import: the lock says what keys need to know."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sysconfig
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Project, Ran

KERNELS = """
    import flaxlib
    import triton
    import triton.language as tl

    SCALE = tl.constexpr(flaxlib.SCALE)


    @triton.jit
    def scale(x_ptr, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(x_ptr + at, tl.load(x_ptr + at, at < n) * SCALE, at < n)
"""
MANIFEST = """
    [defaults]
    targets = ["cuda:90", "hip:gfx942"]

    [[kernel]]
    name = "scale"
    target = "kernels.py:scale"
    signature = { x_ptr = "*fp32", n = "i32" }
    constants = { BLOCK = 256 }
"""


def make_python(folder: Path, *, triton: bool, library: str | None) -> str:
    """A virtual environment with what is installed here, less Triton or plus `flaxlib` of a version."""
    venv.create(folder, with_pip=False, symlinks=True)
    site = next(folder.glob("lib/python*/site-packages"))
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if triton or not path.name.startswith("triton"):
            (site / path.name).symlink_to(path)
    if library:
        text = f"SCALE = {library}\n"
        found = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        (site / "flaxlib.py").write_text(text)
        (site / f"flaxlib-{library}.dist-info").mkdir()
        (site / f"flaxlib-{library}.dist-info/METADATA").write_text(f"Name: flaxlib\nVersion: {library}\n")
        (site / f"flaxlib-{library}.dist-info/RECORD").write_text(f"flaxlib.py,sha256={found},{len(text)}\n")
    return str(folder / "bin/python")


def lock(project: Project) -> Ran:
    """Run `portcheck lock`."""
    with project.start("lock") as process:
        out, err = process.communicate(timeout=100)
    return Ran(process.returncode, out, err, None)


@pytest.fixture(scope="module")
def pythons(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Interpreters: `full`; `newer`, with another version of the library; `bare`, without Triton and the library."""
    make = tmp_path_factory.mktemp
    return {
        "full": make_python(make("full"), triton=True, library="2.0"),
        "newer": make_python(make("newer"), triton=True, library="3.0"),
        "bare": make_python(make("bare"), triton=False, library=None),
    }


@pytest.fixture
def locked(make_project: Callable[[], Project], pythons: dict[str, str]) -> Project:
    """A project whose verdicts are in a remote, with a lock."""
    project = make_project()
    project.python = pythons["full"]
    project.write({"portcheck.toml": MANIFEST, "kernels.py": KERNELS})
    assert project.check("--remote", f"file://{project.folder}/shared").status == 0
    written = lock(project)
    assert (written.status, written.err) == (0, "")
    assert written.out.endswith("portcheck.lock: 1 release, 1 distribution\n")
    return project


def clone(locked: Project, make_project: Callable[[], Project], python: str) -> Project:
    """Another checkout of the project, on a machine with another interpreter."""
    other = make_project()
    other.python = python
    names = ("portcheck.toml", "kernels.py", "portcheck.lock")
    other.write({name: (locked.folder / name).read_text() for name in names})
    return other


def test_a_machine_without_triton_prints_the_matrix(
    locked: Project, make_project: Callable[[], Project], pythons: dict[str, str]
) -> None:
    other = clone(locked, make_project, pythons["bare"])

    ran = other.check("--remote", f"file://{locked.folder}/shared")

    assert (ran.status, ran.err) == (0, "")
    assert ran.origins == {"scale@cuda:90": "remote", "scale@hip:gfx942": "remote"}


def test_what_is_not_recorded_needs_what_is_named(
    locked: Project, make_project: Callable[[], Project], pythons: dict[str, str]
) -> None:
    other = clone(locked, make_project, pythons["bare"])
    other.write({"kernels.py": KERNELS.replace("* SCALE", "+ SCALE")})

    ran = other.check("--remote", f"file://{locked.folder}/shared")

    assert ran.status == 3
    assert re.search(r"something has to be installed: \S+ -m pip install triton==\S+ flaxlib==2.0$", ran.err.strip())
    assert len(ran.err.splitlines()) == 1


def test_without_a_lock_triton_is_needed(
    locked: Project, make_project: Callable[[], Project], pythons: dict[str, str]
) -> None:
    other = clone(locked, make_project, pythons["bare"])
    (other.folder / "portcheck.lock").unlink()

    ran = other.check("--remote", f"file://{locked.folder}/shared")

    assert ran.status == 3
    assert "Triton is not installed" in ran.err


def test_a_lock_that_disagrees_with_what_is_installed_is_an_error(
    locked: Project, make_project: Callable[[], Project], pythons: dict[str, str]
) -> None:
    other = clone(locked, make_project, pythons["newer"])

    refused = other.check()
    assert refused.status == 3
    assert refused.err.startswith("portcheck: portcheck.lock: flaxlib 3.0 is installed here, and the lock has 2.0: ")

    assert lock(other).status == 0
    assert other.check().status == 0


def test_a_lock_of_another_platform_says_nothing_and_is_kept(locked: Project) -> None:
    path = locked.folder / "portcheck.lock"
    written = json.loads(path.read_text())
    (section,) = written["platforms"].values()
    path.write_text(json.dumps({**written, "platforms": {"plan9-mips-cp311": {**section, "toolchains": {}}}}))

    assert locked.check().status == 0
    assert lock(locked).status == 0
    assert len(json.loads(path.read_text())["platforms"]) == 2
    assert lock(locked).out.endswith("unchanged\n")


def test_a_broken_lock_is_one_line(locked: Project) -> None:
    (locked.folder / "portcheck.lock").write_text("<<<<<<< HEAD")

    ran = locked.check()

    assert ran.status == 2
    assert ran.err.startswith("portcheck: portcheck.lock: cannot be read: ")
    assert len(ran.err.splitlines()) == 1
    assert lock(locked).status == 0
    assert locked.check().status == 0


def test_what_cannot_be_imported_is_named_and_the_rest_is_locked(
    make_project: Callable[[], Project], pythons: dict[str, str]
) -> None:
    project = make_project()
    project.python = pythons["full"]
    broken = """
        import gone
        from kernels import scale
    """
    rows = "".join(
        f"""
    [[kernel]]
    name = "{name}"
    target = "broken.py:scale"
    signature = {{ x_ptr = "*fp32", n = "i32" }}
    constants = {{ BLOCK = {block} }}
"""
        for name, block in (("first", 128), ("second", 256))
    )
    project.write({"portcheck.toml": MANIFEST + rows, "kernels.py": KERNELS, "broken.py": broken})

    ran = lock(project)

    assert ran.status == 1
    assert ran.out.endswith("portcheck.lock: 1 release, 1 distribution\n")
    assert re.fullmatch(
        r"portcheck: broken\.py cannot be imported for cuda:90, hip:gfx942 with Triton \S+: ModuleNotFoundError: "
        r"No module named 'gone' at broken\.py:2; the lock lacks what first, second need: install what is missing, "
        r"or repair the module, and run portcheck lock again\n",
        ran.err,
    ), ran.err

    project.write({"broken.py": broken.replace("import gone", "")})
    again = lock(project)
    assert (again.status, again.err) == (0, "")

"""`portcheck diff` and `check --since` with a real Triton and a real repository."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from portcheck.ir.unified import BINARY, unified
from portcheck.report.style import Style
from tests.repository import commit, git

if TYPE_CHECKING:
    from tests.conftest import Project

MANIFEST = """
    [defaults]
    targets = ["cuda:80", "hip:gfx942"]

    [[kernel]]
    name = "add"
    target = "kernels.py:add"
    signature = { x = "*fp32:16", y = "*fp32:16", n = "i32" }

    [[kernel]]
    name = "mul"
    target = "kernels.py:mul"
    signature = { x = "*fp32:16", y = "*fp32:16", n = "i32" }
"""
KERNELS = """
    import triton
    import triton.language as tl

    @triton.jit
    def add(x, y, n):
        at = tl.program_id(0) * 256 + tl.arange(0, 256)
        tl.store(y + at, tl.load(x + at, mask=at < n) + 1.0, mask=at < n)

    @triton.jit
    def mul(x, y, n):
        at = tl.program_id(0) * 256 + tl.arange(0, 256)
        tl.store(y + at, tl.load(x + at, mask=at < n) * 2.0, mask=at < n)
"""
HERE = "work/gpu"  # the manifest's folder in the repository


@pytest.fixture
def repository(make_project: Callable[[], Project], tmp_path: Path) -> Project:
    """A repository whose last commit changed `mul` only; nothing is compiled yet."""
    made = make_project()
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    made.env["TMPDIR"] = str(scratch)
    made.write({"portcheck.toml": MANIFEST, "kernels.py": KERNELS})
    git(made.folder, "init", "-q", "-b", "main")
    commit(made.folder)
    made.write({"kernels.py": KERNELS.replace("* 2.0", "* tl.exp(2.0)")})
    commit(made.folder)
    return made


def run(project: Project, *arguments: str, status: int) -> tuple[str, str]:
    """The output of a command, which has to end with `status`."""
    ended, out, err = project.portcheck(*arguments)
    assert ended == status, f"{ended}\n{out}\n{err}"
    return out, err


def scratch(project: Project) -> list[str]:
    """What runs have left in the temporary folder."""
    return os.listdir(project.env["TMPDIR"])


def test_only_the_changed_kernel_is_compiled(repository: Project) -> None:
    assert repository.check().status == 0

    out, err = run(repository, "diff", "--rev", "HEAD~1", "--json", "diff.json", status=0)

    diff: dict[str, Any] = json.loads((repository.folder / "diff.json").read_text())
    assert ": 4 cells: 2 compiled, 2 cached\n" in err
    assert "the present tree: 4 cells: 4 cached\n" in err
    changed = {cell["kernel"] for cell in diff["cells"] if cell["old"]["front_key"] != cell["new"]["front_key"]}
    assert changed == {"mul"}
    assert "  mul on cuda:80\n" in out and "  add on" not in out
    # The same again answers all from the cache, in a checkout at another path.
    _, err = run(repository, "diff", "--rev", "HEAD~1", status=0)
    assert err.count("4 cells: 4 cached\n") == 2
    assert scratch(repository) == []
    assert git(repository.folder, "worktree", "list").count("\n") == 1
    assert git(repository.folder, "status", "--porcelain", "--untracked-files=no") == ""


def test_a_regression_against_a_revision_is_1(repository: Project) -> None:
    repository.write({"kernels.py": KERNELS.replace("* 2.0", "* tl.no_such_function(2.0)")})

    out, _ = run(repository, "diff", "--rev", "HEAD", "-t", "cuda:80", status=1)

    assert "1 regressed\n  mul on cuda:80\n    frontend-error in frontend: " in out
    out, _ = run(repository, "diff", "--rev", "HEAD", "-k", "add", status=0)
    assert "2 cells: 0 regressed" in out


def test_rows_that_came_and_went(repository: Project) -> None:
    repository.write({"portcheck.toml": MANIFEST.replace('name = "add"', 'name = "plus"')})

    out, err = run(repository, "diff", "--rev", "HEAD", "-k", "plus", status=0)
    assert "2 cells: 0 regressed, 0 fixed, 0 fail differently, 0 unchanged, 2 added" in out
    assert "HEAD" in err and ": no cells\n" in err
    out, _ = run(repository, "diff", "--rev", "HEAD", status=0)
    assert "6 cells: 0 regressed, 0 fixed, 0 fail differently, 2 unchanged, 2 added, 2 removed" in out


def test_the_manifest_may_lie_below_the_top(repository: Project) -> None:
    (repository.folder / HERE).mkdir(parents=True)
    for name in ("portcheck.toml", "kernels.py"):
        (repository.folder / name).rename(repository.folder / HERE / name)
    commit(repository.folder)

    _, err = run(repository, "diff", f"{HERE}/portcheck.toml", "--rev", "main", status=0)
    assert "the present tree: 4 cells: 4 cached\n" in err
    _, err = run(repository, "diff", f"{HERE}/portcheck.toml", "--rev", "main~1", status=2)
    assert f"portcheck: there is no {HERE}/portcheck.toml at revision main~1" in err
    _, err = run(repository, "diff", f"{HERE}/portcheck.toml", "--rev", "nowhere", status=2)
    assert err.startswith('portcheck: no revision "nowhere" in ')
    assert err.count("\n") == 1


def test_a_manifest_that_was_wrong_then_is_told_with_its_revision(repository: Project) -> None:
    repository.write({"portcheck.toml": MANIFEST.replace("signature", "signatur", 1)})
    commit(repository.folder)
    repository.write({"portcheck.toml": MANIFEST})

    _, err = run(repository, "diff", "--rev", "main", status=2)

    assert err.startswith("portcheck: at revision main (")
    assert "signatur" in err and "Traceback" not in err


def test_since_keeps_a_row_of_which_only_what_compiling_reads_differs(repository: Project) -> None:
    factor = """@triton.constexpr_function
    def factor():
        import late
        return late.FACTOR

    @triton.jit
    def mul"""
    kernels = KERNELS.replace("* 2.0", "* factor()").replace("@triton.jit\n    def mul", factor)
    repository.write({"kernels.py": kernels, "late.py": "FACTOR = 3.0"})
    commit(repository.folder)
    repository.check()
    assert repository.check("--since", "HEAD").cells == {}

    repository.write({"late.py": "FACTOR = 4.0"})

    assert set(repository.check("--since", "HEAD").cells) == {"mul@cuda:80", "mul@hip:gfx942"}


def test_since_keeps_the_rows_that_differ(repository: Project) -> None:
    ran = repository.check("--since", "HEAD~1")
    assert set(ran.cells) == {"mul@cuda:80", "mul@hip:gfx942"}
    assert ran.out.endswith("): 1 row differs, 2 cells of other rows left out\n")

    ran = repository.check("--since", "main")
    assert ran.status == 0
    assert ran.cells == {}
    assert ran.out.endswith("): no kernel differs: nothing to check, 4 cells left out\n")

    # A comment is no difference, another expectation is one.
    repository.write({"kernels.py": "# moved\n" + "".join(f"{line[4:]}\n" for line in KERNELS.splitlines())})
    git(repository.folder, "stash", "-q")
    repository.write(
        {"kernels.py": KERNELS.replace("* 2.0", "* tl.exp(2.0)").replace("@triton.jit", "# why\n    @triton.jit")}
    )
    assert repository.check("--since", "main").cells == {}
    repository.write({"portcheck.toml": MANIFEST + '    xfail = ["hip:*"]\n'})
    assert set(repository.check("--since", "main").cells) == {"mul@cuda:80", "mul@hip:gfx942"}
    # A target more has no cell to compare with.
    repository.write({"portcheck.toml": MANIFEST.replace('"cuda:80",', '"cuda:80", "cuda:90",')})
    assert len(repository.check("--since", "main").cells) == 6
    assert scratch(repository) == []


def test_a_revision_is_checked_with_the_lock_of_the_present_tree(repository: Project) -> None:
    """What another lock names is not installed here, and it cannot be written anew."""
    run(repository, "lock", status=0)
    path = repository.folder / "portcheck.lock"
    good = path.read_text()
    digests = {
        found["digest"] for one in json.loads(good)["platforms"].values() for found in one["toolchains"].values()
    }
    for digest in digests:
        path.write_text(path.read_text().replace(digest, "0" * len(digest)))
    commit(repository.folder)
    path.write_text(good)

    _, err = run(repository, "diff", "--rev", "HEAD", status=0)

    assert err.endswith("the present tree: 4 cells: 4 cached\n")
    assert repository.check("--since", "HEAD").cells == {}


def test_files_of_the_present_tree_are_never_taken_for_the_revision_s(repository: Project) -> None:
    data = repository.folder / "scale.txt"
    data.write_text("2.0")
    read = f"SCALE = tl.constexpr(float(open({str(data)!r}).read()))\n\n    @triton.jit\n    def mul"
    repository.write({"kernels.py": KERNELS.replace("@triton.jit\n    def mul", read).replace("* 2.0", "* SCALE")})
    commit(repository.folder)
    data.write_text("3.0")

    _, err = run(repository, "diff", "--rev", "HEAD", status=0)
    assert f"read {data} of the present tree" in err
    # All rows are of that module: it cannot be told what they were, so they are checked.
    assert len(repository.check("--since", "HEAD").cells) == 4


@pytest.mark.parametrize(
    ("command", "number"),
    [
        (("diff", "--rev"), signal.SIGINT),
        (("diff", "--rev"), signal.SIGTERM),
        (("diff", "--rev"), signal.SIGKILL),
        (("check", "--since"), signal.SIGINT),
        (("check", "--since"), signal.SIGKILL),
    ],
)
def test_nothing_is_left_by_a_run_that_is_ended(
    repository: Project, until: Callable[[Callable[[], Any]], None], command: tuple[str, str], number: signal.Signals
) -> None:
    repository.write({"kernels.py": f"    import time; open('started', 'w'); time.sleep(60)\n{KERNELS}"})
    commit(repository.folder)
    process = repository.start(*command, "main")
    until(lambda: list(Path(repository.env["TMPDIR"]).glob("*/tree/started")))

    process.send_signal(number)
    _, err = process.communicate(timeout=60)

    assert process.returncode == (-signal.SIGKILL if number == signal.SIGKILL else 130)
    assert "Traceback" not in err
    if number == signal.SIGKILL:
        assert scratch(repository)  # until the next run
        git(repository.folder, "checkout", "-q", "main~1")
        assert repository.check("--since", "HEAD").status == 0
    assert scratch(repository) == []
    assert repository.left_behind() == []
    assert git(repository.folder, "worktree", "list").count("\n") == 1


def test_ir_is_compared_without_its_accidents(repository: Project) -> None:
    assert repository.check("--save-ir", "old").status == 0
    renamed = KERNELS.replace("at", "place").replace("* 2.0", "* tl.exp(2.0)")
    repository.write({"kernels.py": f"    # moved\n{renamed}"})
    repository.cache = repository.cache.with_name("other")
    ran = repository.check("--save-ir", "new")
    assert ran.status == 0 and set(ran.origins.values()) == {"compiled"}

    compared = 0
    for old in (repository.folder / "old").glob("*/*"):
        new = repository.folder / "new" / old.relative_to(repository.folder / "old")
        if old.name not in BINARY:
            assert old.read_text() != new.read_text()
            (said,) = unified(old.name, old.read_text(), new.read_text(), ("old", "new"), Style(False))
            assert said == f"{old.name}: equal, but for names, numbers and places in the source"
            compared += 1
    assert compared == 2 * 5 + 2 * 5


def test_ir_from_the_cache(repository: Project) -> None:
    assert repository.check().status == 0
    old = (repository.folder / "report.json").rename(repository.folder / "old.json")
    repository.write({"kernels.py": KERNELS})
    assert repository.check().status == 0

    out, _ = run(repository, "diff", old.name, "report.json", "--ir", "ttir", status=0)

    assert "mul on cuda:80\n--- old.json/mul@cuda:80@" in out
    assert "\n-    %constant = arith.constant dense<7.3890562" in out
    assert "\n+    %constant = arith.constant dense<2.000000e+00>" in out
    assert "ttir is the same to the byte in 2 cells\n" in out


def test_ir_that_is_no_longer_kept_is_an_error_with_the_remedy(repository: Project) -> None:
    assert repository.check().status == 0
    repository.write({"kernels.py": KERNELS})
    first = (repository.folder / "report.json").rename(repository.folder / "first.json")
    assert repository.check().status == 0
    run(repository, "diff", first.name, "report.json", "--ir", "ttir", "-k", "mul", status=0)

    run(repository, "cache", "gc", "--max-size", "0", status=0)
    out, err = run(repository, "diff", first.name, "report.json", "--ir", "ttir", "-k", "mul", status=3)

    assert "portcheck: ttir of mul@cuda:80@" in err
    assert "is no longer in the cache of this folder: make it again with: portcheck check --triton" in err
    assert "2 cells: 0 regressed" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "no report given: name two, or one with --versions A B or --targets A B, or compare with --rev REV"),
        (("report.json",), "one report given"),
        (("report.json", "report.json", "report.json"), "3 reports given"),
        (("report.json", "report.json", "--versions", "a", "b"), "2 reports given"),
        (("report.json", "--versions", "3.8.0", "3.9.0"), "report.json: no release 3.8.0"),
        (("report.json", "missing.json"), "missing.json: cannot read the report: No such file or directory"),
        (("report.json", "portcheck.toml"), "portcheck.toml: not a JSON report"),
        (("report.json", "report.json", "-k", "nothing"), "nothing to compare"),
        (("report.json", "report.json", "--ir", "ttgri"), '--ir: no cell has a stage "ttgri" (did you mean ttgir?)'),
        (("report.json", "report.json", "--ir", "cubin"), "--ir cubin: is binary: ptx or amdgcn is the nearest text"),
        (("report.json", "report.json", "--slower", "-1"), "--slower -1: percent have to be 0 or more"),
        (("report.json", "report.json", "--slower", "nan"), "--slower nan: percent have to be 0 or more"),
        (("report.json", "report.json", "--json", "no/diff.json"), "--json no/diff.json: there is no folder no"),
        (("report.json", "report.json", "--markdown", "."), "--markdown .: is a folder"),
        (("report.json", "report.json", "--triton", "3.9.0"), "--triton: only with --rev"),
        (("report.json", "report.json", "--no-inherit-site"), "--no-inherit-site: only with --rev"),
        (("a.toml", "b.toml", "--rev", "main"), "--rev compares with one manifest: leave out b.toml"),
    ],
)
def test_bad_arguments_are_one_line(checked: Project, arguments: tuple[str, ...], said: str) -> None:
    _, err = run(checked, "diff", *arguments, status=2)

    assert err.startswith(f"portcheck: {said}")
    assert err.count("\n") == 1


@pytest.fixture(scope="module")
def checked(make_project: Callable[[], Project]) -> Project:
    """A project with a report."""
    made = make_project()
    made.write({"portcheck.toml": MANIFEST, "kernels.py": KERNELS})
    assert made.check().status == 0
    return made


def test_two_targets_of_one_report(checked: Project) -> None:
    out, _ = run(checked, "diff", "report.json", "--targets", "cuda:80", "hip:gfx942", status=0)

    assert " · cuda:80 -> hip:gfx942\n" in out
    assert "2 cells: 0 regressed, 0 fixed, 0 fail differently, 2 unchanged" in out

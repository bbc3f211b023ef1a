"""Inputs of imports: their portable names, and what is observed of them."""

from __future__ import annotations

import os
import shutil
import sysconfig
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from portcheck.cache import Store
from portcheck.compiler import scratch
from portcheck.digests import Digests
from portcheck.inputlists import InputLists
from portcheck.installed import Installed
from portcheck.observer import Observer
from portcheck.toolchain.imports import of_this

MakeObserver = Callable[[], Observer]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of installed packages."""
    site = tmp_path / "lib" / "site-packages"
    site.mkdir(parents=True)
    monkeypatch.syspath_prepend(site)
    return site


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A manifest's folder."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "kernels.py").write_text("one")
    return folder


@pytest.fixture
def make_observer(store: Store, folder: Path, site: Path) -> MakeObserver:
    """`make_observer()` is the observer of a new process."""
    return lambda: Observer(
        folder, site / "triton", InputLists(store), Installed(of_this().site, Digests(store, folder), store)
    )


def observe(make_observer: MakeObserver, *names: str, environ: Mapping[str, str] | None = None) -> str | None:
    """What a new process observes of these inputs."""
    observer = make_observer()
    listed = observer._lists.put(names)
    return observer.observe(listed, environ or {})


def test_names_are_portable_and_lead_back(make_observer: MakeObserver, folder: Path, site: Path) -> None:
    (site / "package").mkdir()
    (site / "package" / "module.py").touch()
    paths = [folder / "kernels.py", folder.parent / "shared.py", site / "package" / "module.py"]

    named = make_observer().names([("file", str(path)) for path in paths])

    assert named == {
        "file:kernels.py": str(paths[0]),
        "file:../shared.py": str(paths[1]),
        "file:dist/package/module.py": str(paths[2]),
    }
    assert make_observer().just_read(named).fit


@pytest.mark.parametrize("kind", ["file", "list", "stat", "link", "module"])
def test_triton_and_the_standard_library_are_covered_elsewhere(
    make_observer: MakeObserver, site: Path, kind: str
) -> None:
    read = [(kind, str(site / "triton" / "knobs.py")), (kind, os.__file__), (kind, sysconfig.__file__)]

    assert make_observer().names(read) == {}


def test_asking_for_what_is_read_anyway_is_one_input(make_observer: MakeObserver, folder: Path) -> None:
    path = str(folder / "kernels.py")

    assert list(make_observer().names([("file", path), ("stat", path)])) == ["file:kernels.py"]


def test_variables_count_unless_they_only_say_who_and_where(make_observer: MakeObserver) -> None:
    read = [("env", "HOME"), ("env", "FLA_USE_TMA"), ("env", "CI"), ("env", "")]

    assert set(make_observer().names(read)) == {"env:FLA_USE_TMA", "env:CI", "env:"}


def test_a_file_is_observed_by_its_content(make_observer: MakeObserver, folder: Path) -> None:
    before = observe(make_observer, "file:kernels.py")
    os.utime(folder / "kernels.py", ns=(0, 0))
    assert observe(make_observer, "file:kernels.py") == before

    (folder / "kernels.py").write_text("two")
    assert observe(make_observer, "file:kernels.py") != before
    (folder / "kernels.py").unlink()
    assert observe(make_observer, "file:kernels.py") not in (before, None)


def test_a_listing_is_observed_by_its_names(make_observer: MakeObserver, folder: Path) -> None:
    before = observe(make_observer, "list:.")
    (folder / "kernels.py").write_text("two")
    (folder / "__pycache__").mkdir()
    assert observe(make_observer, "list:.") == before

    (folder / "new.py").touch()
    assert observe(make_observer, "list:.") != before


def test_a_question_for_a_path_is_observed_by_its_answer(make_observer: MakeObserver, folder: Path) -> None:
    seen = [observe(make_observer, "stat:tuning")]
    (folder / "tuning").touch()
    seen.append(observe(make_observer, "stat:tuning"))
    (folder / "tuning").write_text("7")
    seen.append(observe(make_observer, "stat:tuning"))
    (folder / "tuning").write_text("8")
    assert observe(make_observer, "stat:tuning") == seen[2]
    (folder / "tuning").unlink()
    (folder / "tuning").mkdir()
    seen.append(observe(make_observer, "stat:tuning"))

    assert len(set(seen)) == 4


def test_of_the_terminal_and_the_ci_job_only_the_names_count_in_the_whole_environment(
    make_observer: MakeObserver,
) -> None:
    german, plain, none = (
        observe(make_observer, "env:", environ=environ) for environ in ({"LANG": "de"}, {"LANG": "C"}, {})
    )

    assert german == plain != none


def test_a_link_is_observed_by_where_it_leads(make_observer: MakeObserver, folder: Path) -> None:
    (folder / "current").symlink_to("v2")
    before = observe(make_observer, "link:current")
    (folder / "current").unlink()
    (folder / "current").symlink_to("v3")

    assert observe(make_observer, "link:current") != before


def test_what_is_read_through_a_link_is_named_by_the_link(make_observer: MakeObserver, folder: Path) -> None:
    (folder / "current.json").symlink_to("kernels.py")

    assert set(make_observer().names([("file", str(folder / "current.json"))])) == {"file:current.json"}


def test_a_submodule_that_was_not_there_is_noticed_when_it_comes(make_observer: MakeObserver, folder: Path) -> None:
    (folder / "package").mkdir()
    before = observe(make_observer, "module:package/fast")
    (folder / "package" / "slow.py").touch()
    assert observe(make_observer, "module:package/fast") == before

    (folder / "package" / "fast.cpython-311-x86_64-linux-gnu.so").touch()
    assert observe(make_observer, "module:package/fast") != before


def test_a_package_that_comes_before_a_module_is_noticed(make_observer: MakeObserver, folder: Path) -> None:
    (folder / "package" / "fast").mkdir(parents=True)
    (folder / "package" / "fast.py").touch()
    before = observe(make_observer, "module:package/fast")
    (folder / "package" / "fast" / "__init__.py").touch()

    assert observe(make_observer, "module:package/fast") != before


def test_a_module_is_observed_by_where_it_is_found(make_observer: MakeObserver, folder: Path, site: Path) -> None:
    before = observe(make_observer, "find:optional_thing")
    (folder / "optional_thing.py").touch()
    beside = observe(make_observer, "find:optional_thing")
    (site / "optional_thing.py").touch()
    installed = observe(make_observer, "find:optional_thing")

    assert len({before, beside, installed}) == 3


def test_a_variable_is_observed_by_its_value_or_the_file_it_names(make_observer: MakeObserver, folder: Path) -> None:
    def seen(value: str) -> str | None:
        return observe(make_observer, "env:TUNING", environ={"TUNING": value, "OTHER": value})

    unset = observe(make_observer, "env:TUNING", environ={"OTHER": "1"})
    assert len({unset, seen(""), seen("1"), seen("2")}) == 4
    (folder / "copy.py").write_text("one")
    assert seen(str(folder / "kernels.py")) == seen(str(folder / "copy.py"))


def test_the_whole_environment_is_observed_without_who_and_where(make_observer: MakeObserver) -> None:
    plain = observe(make_observer, "env:", environ={"A": "1"})

    assert observe(make_observer, "env:", environ={"A": "1", "HOME": "/home/me"}) == plain
    assert observe(make_observer, "env:", environ={"A": "1", "B": "2"}) != plain


def test_a_kind_that_this_version_does_not_know_never_matches(make_observer: MakeObserver) -> None:
    assert observe(make_observer, "weather:") == observe(make_observer, "weather:")
    assert observe(make_observer, "weather:") != observe(make_observer, "file:weather")


def test_a_list_that_is_lost_is_observed_as_nothing(make_observer: MakeObserver) -> None:
    assert make_observer().observe("0" * 32, {}) is None


def test_a_file_written_while_it_was_read_is_unfit(make_observer: MakeObserver, folder: Path) -> None:
    named = make_observer().names([("file", str(folder / "kernels.py"))])
    written = (folder / "kernels.py").stat().st_ctime

    assert not make_observer().just_read(named, began=written - 1).fit
    assert make_observer().just_read(named, began=written + 1).fit
    os.utime(folder / "kernels.py", ns=(0, 0))  # as a copy that keeps times does
    assert not make_observer().just_read(named, began=written - 1).fit


def test_a_file_from_the_future_does_not_count_as_written_just_now(make_observer: MakeObserver, folder: Path) -> None:
    future = int(time.time() + 3600) * 10**9
    os.utime(folder / "kernels.py", ns=(future, future))
    named = make_observer().names([("file", str(folder / "kernels.py"))])

    assert make_observer().just_read(named, began=time.time() + 1).fit


def test_a_name_that_leads_elsewhere_is_unfit(make_observer: MakeObserver, tmp_path: Path) -> None:
    hidden = tmp_path / "other" / "site-packages" / "package.py"
    hidden.parent.mkdir(parents=True)
    hidden.touch()

    assert not make_observer().just_read(make_observer().names([("file", str(hidden))])).fit


def test_a_folder_that_is_reached_through_a_link(store: Store, folder: Path, site: Path) -> None:
    link = folder.with_name("link")
    link.symlink_to(folder)
    observer = Observer(
        link, site / "triton", InputLists(store), Installed(of_this().site, Digests(store, link), store)
    )

    named = observer.names([("file", str(folder / "kernels.py")), ("file", str(link / "kernels.py"))])

    assert set(named) == {"file:kernels.py"}
    assert observer.just_read(named).fit


def test_what_was_imported_before_is_no_input(make_observer: MakeObserver, folder: Path) -> None:
    read = [("list", str(folder / "__pycache__")), ("stat", str(folder / "__pycache__/kernels.cpython-311.pyc"))]

    assert make_observer().names(read) == {}


def test_a_submodule_of_a_package_in_a_second_folder_of_packages_is_noticed(
    store: Store, folder: Path, site: Path, tmp_path: Path
) -> None:
    other = tmp_path / "more/site-packages"
    (other / "package").mkdir(parents=True)

    def seen() -> str | None:
        installed = Installed([str(site), str(other)], Digests(store, folder), store)
        observer = Observer(folder, site / "triton", InputLists(store), installed)
        named = observer.names([("module", str(other / "package/extra"))])
        assert observer.just_read(named).fit
        return observer.observe(observer._lists.put(named), {})

    before = seen()
    (other / "package/extra.py").touch()

    assert seen() != before


def test_a_submodule_of_a_package_that_is_spread_over_two_folders_of_packages_is_unfit(
    store: Store, folder: Path, site: Path, tmp_path: Path
) -> None:
    """It has one name in both."""
    other = tmp_path / "more/site-packages"
    for place in (site, other):
        (place / "package").mkdir(parents=True)
    installed = Installed([str(site), str(other)], Digests(store, folder), store)
    observer = Observer(folder, site / "triton", InputLists(store), installed)

    assert not observer.just_read(observer.names([("module", str(other / "package/extra"))])).fit


def test_a_linker_is_observed_where_the_environment_leads_to_it(make_observer: MakeObserver, tmp_path: Path) -> None:
    """Under a name without a path: two machines may have it in different places."""
    for place, content in (("one", "19"), ("other", "19"), ("newer", "20")):
        (tmp_path / place).mkdir()
        (tmp_path / place / "ld.lld").write_text(content)

    def seen(place: str) -> str | None:
        environ = {"TRITON_HIP_LLD_PATH": str(tmp_path / place / "ld.lld"), "PATH": ""}
        return observe(make_observer, "tool:ld.lld", environ=environ)

    assert seen("one") == seen("other")
    assert len({seen("one"), seen("newer"), seen("nowhere")}) == 3


def test_another_revision_names_its_inputs_as_the_present_tree_does(store: Store, tmp_path: Path, site: Path) -> None:
    """All of them: what is recorded of either has to hold for the other, though one of them is a temporary folder."""

    def named(top: Path, package: Path) -> dict[str, str]:
        folder = top / "gpu"
        installed = Installed([str(site)], Digests(store, folder), store)
        observer = Observer(folder, site / "triton", InputLists(store), installed)
        read = [("file", package / "ops.py"), ("list", package), ("module", package / "fast"), ("stat", top / "data")]
        names = observer.names([(kind, str(path)) for kind, path in read])
        assert observer.just_read(names).fit
        return names

    scratched = scratch.make()
    trees = [tmp_path / "project", scratched / "tree"]
    for top in trees:
        (top / "gpu").mkdir(parents=True)
        (top / "src" / "package").mkdir(parents=True)
        (top / "src" / "package" / "ops.py").touch()
    (scratched / "first").mkdir()
    (scratched / "first" / "package").symlink_to(trees[1] / "src" / "package")

    there = named(trees[1], scratched / "first" / "package")

    assert list(there) == [
        "file:../src/package/ops.py",
        "list:../src/package",
        "module:../src/package/fast",
        "stat:../data",
    ]
    present = trees[0]
    moved = Path("/srv") / present.name  # not below the folder for temporary files
    assert list(named(moved, moved / "src" / "package")) == list(there)
    shutil.rmtree(scratched)

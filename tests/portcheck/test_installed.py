"""Installed distributions as inputs: one answer for all files that are as they were installed."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from portcheck.cache import Store
from portcheck.digests import Digests
from portcheck.inputlists import InputLists
from portcheck.installed import Installed, StandIns
from portcheck.observer import Observer

FILES = {"flax/__init__.py": "one", "flax/ops/add.py": "two", "flax/ops/table.json": "{}"}
NAMES = [
    "file:dist/flax/__init__.py",
    "file:dist/flax/ops/add.py",
    "list:dist/flax/ops",
    "stat:dist/flax/ops/table.json",
    "module:dist/flax/ops",
    "module:dist/flax/ops/add",
    "module:dist/flax/missing",
    "find:flax",
]

Observe = Callable[..., str | None]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder of installed packages: flax 1.0, as an installer leaves it."""
    site = tmp_path / "lib/site-packages"
    install(site, "flax", "1.0", FILES)
    return site


def install(site: Path, name: str, version: str, files: Mapping[str, str]) -> None:
    """Install a distribution the way pip does: files, compiled files, and a RECORD."""
    lines = [f"{name}-{version}.dist-info/RECORD,,", "../../bin/tool,sha256=differs-by-path,10"]
    for file, text in {**files, f"{name}-{version}.dist-info/METADATA": f"Name: {name}"}.items():
        path = site / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        found = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        lines.append(f"{file},sha256={found},{len(text)}")
        if file.endswith(".py"):
            compiled = path.parent / "__pycache__" / f"{path.stem}.cpython-311.pyc"
            compiled.parent.mkdir(exist_ok=True)
            compiled.touch()
            lines.append(f"{compiled.relative_to(site)},,")
    (site / f"{name}-{version}.dist-info/RECORD").write_text("\n".join(lines))


@pytest.fixture
def make_observer(tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Observer]:
    """`make_observer(site, …)` is the observer of a process with these folders of packages."""

    def make(*sites: Path, known: StandIns | None = None) -> Observer:
        folders = [str(site) for site in sites]
        monkeypatch.setattr("sys.path", folders)
        installed = Installed(folders, Digests(store, tmp_path), store, known or StandIns())
        return Observer(tmp_path / "project", tmp_path / "triton", InputLists(store), installed)

    return make


def seen(observer: Observer, names: list[str] = NAMES) -> str | None:
    """What a process observes of these inputs."""
    return observer.observe(observer._lists.put(names), {})


def test_an_installation_elsewhere_gives_the_same(
    make_observer: Callable[..., Observer], site: Path, tmp_path: Path
) -> None:
    other = tmp_path / "elsewhere/site-packages"
    install(other, "flax", "1.0", FILES)
    (other / "flax-1.0.dist-info/INSTALLER").write_text("another")
    (other / "flax/__pycache__/__init__.cpython-312.pyc").touch()

    assert seen(make_observer(site)) == seen(make_observer(other))


def test_another_version_gives_something_else_even_if_the_files_that_were_read_are_the_same(
    make_observer: Callable[..., Observer], site: Path, tmp_path: Path
) -> None:
    other = tmp_path / "elsewhere/site-packages"
    install(other, "flax", "1.1", {**FILES, "flax/never_read.py": ""})
    names = ["file:dist/flax/__init__.py"]

    assert seen(make_observer(site), names) != seen(make_observer(other), names)


@pytest.mark.parametrize("already_seen", [True, False])
@pytest.mark.parametrize(
    "change",
    [
        lambda site: (site / "flax/ops/add.py").write_text("2wo"),
        lambda site: (site / "flax/ops/add.py").unlink(),
        lambda site: (site / "flax/ops/new.py").touch(),
        lambda site: (site / "flax/missing.py").touch(),
        lambda site: (site / "flax/ops/table.json").write_text("{ }"),
        lambda site: install(site, "flax", "1.0", {**FILES, "flax/ops/add.py": "2wo"}),
    ],
    ids=["patched", "removed", "added", "found after all", "grown", "installed again"],
)
def test_a_change_is_seen(
    make_observer: Callable[..., Observer],
    site: Path,
    change: Callable[[Path], None],
    already_seen: bool,
    tmp_path: Path,
) -> None:
    other = tmp_path / "elsewhere/site-packages"
    install(other, "flax", "1.0", FILES)
    before = seen(make_observer(site if already_seen else other))

    change(site)

    assert seen(make_observer(site)) != before


def test_a_file_that_was_patched_before_anybody_looked_counts_for_itself(
    make_observer: Callable[..., Observer], site: Path, tmp_path: Path
) -> None:
    """What was expected is remembered by what RECORDs say, so a sound installation must not have been seen before."""
    other = tmp_path / "elsewhere/site-packages"
    install(other, "flax", "1.0", FILES)
    (site / "flax/ops/add.py").write_text("2wo")

    assert seen(make_observer(site)) != seen(make_observer(other))


def test_a_file_in_a_folder_that_two_distributions_share_is_the_one_that_installed_it(
    make_observer: Callable[..., Observer], site: Path
) -> None:
    install(site, "plugin", "1.0", {"flax/ops/plugin.py": "three"})
    names = ["file:dist/flax/ops/plugin.py", "list:dist/flax/ops"]
    before = seen(make_observer(site), names)

    install(site, "flax", "1.0", {**FILES, "flax/never_read.py": "other"})

    assert seen(make_observer(site), names) == before


def test_another_version_in_a_second_folder_is_seen(
    make_observer: Callable[..., Observer], site: Path, tmp_path: Path
) -> None:
    """As in an environment that has its own, before what it inherits; what only the other one has still leads there."""
    environment = tmp_path / "env/site-packages"
    environment.mkdir(parents=True)
    names = ["file:dist/flax/__init__.py", "file:dist/flax/ops/add.py"]
    before = seen(make_observer(environment, site), names)

    install(environment, "flax", "0.9", {"flax/__init__.py": "older"})

    assert seen(make_observer(environment, site), names) != before


def test_what_an_upgrade_left_behind_is_seen(make_observer: Callable[..., Observer], site: Path) -> None:
    def left_behind(text: str) -> str | None:
        install(site, "flax", "0.9", {"flax/ops/old.py": text})
        return seen(make_observer(site), ["file:dist/flax/ops/old.py"])

    assert left_behind("one") != left_behind("two")


def test_without_a_record_files_count_by_their_content(make_observer: Callable[..., Observer], site: Path) -> None:
    (site / "flax-1.0.dist-info/RECORD").unlink()
    before = seen(make_observer(site))

    (site / "flax/ops/add.py").write_text("2wo")

    assert seen(make_observer(site)) != before


@pytest.mark.parametrize("record", ["\0", "flax/__init__.py", "flax/__init__.py,sha256=x,many", '"'])
def test_a_record_that_cannot_be_read_counts_as_none(
    make_observer: Callable[..., Observer], site: Path, record: str
) -> None:
    (site / "flax-1.0.dist-info/RECORD").write_text(record)

    assert seen(make_observer(site))


def test_what_is_known_stands_in_for_what_is_not_installed(
    make_observer: Callable[..., Observer], site: Path, tmp_path: Path
) -> None:
    names = [*NAMES, "stat:dist/nobodys/table.json"]
    observer = make_observer(site)
    expected = seen(observer, names)
    known = observer.depends_on([observer._lists.put(names)])

    assert [one.paths for one in known.distributions] == [("flax", "flax-1.0.dist-info")]
    assert known.modules == {"flax": "dist/flax/__init__.py"}
    (tmp_path / "empty/site-packages").mkdir(parents=True)
    assert seen(make_observer(tmp_path / "empty/site-packages"), names) != expected
    assert seen(make_observer(tmp_path / "empty/site-packages", known=known), names) == expected


def test_of_a_shared_folder_a_distribution_stands_in_for_what_is_its_own(
    make_observer: Callable[..., Observer], site: Path
) -> None:
    install(site, "plugin", "1.0", {"flax/ops/plugin.py": "three", "flax/ops/more/__init__.py": ""})
    observer = make_observer(site)

    known = observer.depends_on([observer._lists.put(["file:dist/flax/ops/plugin.py", "file:dist/flax/__init__.py"])])

    assert {one.distribution.name: one.paths for one in known.distributions} == {
        "flax": ("flax-1.0.dist-info", "flax/__init__.py", "flax/ops/add.py", "flax/ops/table.json"),
        "plugin": ("flax/ops/more", "flax/ops/plugin.py", "plugin-1.0.dist-info"),
    }


def test_what_only_shows_its_metadata_is_not_imported(make_observer: Callable[..., Observer], site: Path) -> None:
    install(site, "plugin", "1.0", {"plugin.py": "three"})
    observer = make_observer(site)
    read = ["file:dist/flax/__init__.py", "file:dist/flax-1.0.dist-info/METADATA"]

    known = observer.depends_on([observer._lists.put([*read, "file:dist/plugin-1.0.dist-info/METADATA"])])

    assert {one.distribution.name: one.imported for one in known.distributions} == {"flax": True, "plugin": False}


def test_what_is_installed_counts_and_not_what_stands_in_for_it(
    make_observer: Callable[..., Observer], site: Path, tmp_path: Path
) -> None:
    observer = make_observer(site)
    known = observer.depends_on([observer._lists.put(NAMES)])
    other = tmp_path / "elsewhere/site-packages"
    install(other, "flax", "1.1", FILES)

    assert seen(make_observer(other, known=known)) == seen(make_observer(other))

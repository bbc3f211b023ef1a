"""Where the manifest and failures are in a repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from portcheck.report.places import in_repository


@pytest.mark.parametrize("made", [Path.mkdir, Path.touch])  # in a worktree `.git` is a file
def test_the_manifest_is_named_from_the_root_of_its_repository(tmp_path: Path, made: object) -> None:
    (tmp_path / "repo/ci").mkdir(parents=True)
    made(tmp_path / "repo/.git")  # type: ignore[operator]

    assert in_repository(tmp_path / "repo/ci/portcheck.toml", {}) == "ci/portcheck.toml"
    assert in_repository(tmp_path / "repo/portcheck.toml", {}) == "portcheck.toml"


def test_in_a_copy_without_a_repository_github_s_workspace_is_the_root(tmp_path: Path) -> None:
    manifest = tmp_path / "workspace/ci/portcheck.toml"
    manifest.parent.mkdir(parents=True)

    assert in_repository(manifest, {}) == "portcheck.toml"
    assert in_repository(manifest, {"GITHUB_WORKSPACE": str(tmp_path / "workspace")}) == "ci/portcheck.toml"
    assert in_repository(manifest, {"GITHUB_WORKSPACE": str(tmp_path / "elsewhere")}) == "portcheck.toml"


def test_a_manifest_that_is_a_link_is_where_it_leads(tmp_path: Path) -> None:
    (tmp_path / "repo/.git").mkdir(parents=True)
    (tmp_path / "repo/real").mkdir()
    (tmp_path / "repo/real/portcheck.toml").touch()
    (tmp_path / "repo/portcheck.toml").symlink_to("real/portcheck.toml")

    assert in_repository(tmp_path / "repo/portcheck.toml", {}) == "real/portcheck.toml"

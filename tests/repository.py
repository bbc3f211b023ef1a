"""A git repository in a test's folder, whatever the user of the machine has configured."""

from __future__ import annotations

import subprocess
from pathlib import Path

_NOBODY = ("-c", "user.name=n", "-c", "user.email=e@example.com")


def git(folder: Path, *arguments: str) -> str:
    """What git prints in a folder."""
    done = subprocess.run(["git", *_NOBODY, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


def commit(folder: Path) -> None:
    """Commit all there is."""
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "change")

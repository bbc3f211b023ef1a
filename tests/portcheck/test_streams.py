"""The standard streams, as a shell may hand them over."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

COMMANDS = ["--help", "cache path", "cache stats", "explain --help"]


def portcheck(command: str, redirection: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run `portcheck COMMAND REDIRECTION` in a shell."""
    return subprocess.run(
        ["sh", "-c", f'"$0" -P -m portcheck {command} {redirection}', sys.executable],
        capture_output=True,
        text=True,
        env={**os.environ, **env},
        check=False,
    )


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("redirection", "reason"), [(">/dev/full", "No space left on device"), (">&-", "Bad file descriptor")]
)
def test_output_that_cannot_be_written_is_one_line_and_status_3(command: str, redirection: str, reason: str) -> None:
    ran = portcheck(command, redirection)

    assert (ran.returncode, ran.stderr) == (3, f"portcheck: cannot write to standard output: {reason}\n")


@pytest.mark.parametrize("redirection", ["2>/dev/full", "2>&-", "<&- 2>&-"])
def test_a_status_does_not_need_standard_error(redirection: str) -> None:
    assert portcheck("cache path", redirection).returncode == 0
    assert portcheck("check no-such.toml", redirection).returncode == 2
    assert portcheck("check --no-such-flag", redirection).returncode == 2


def test_a_closed_reader_has_seen_enough() -> None:
    assert portcheck("--help", "| true").stderr == ""


def test_what_an_encoding_lacks_is_escaped() -> None:
    ran = portcheck("check näh.toml", "", PYTHONIOENCODING="ascii")

    assert ran.returncode == 2
    assert "n\\xe4h.toml" in ran.stderr

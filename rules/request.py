"""What is asked of one run: the manifest, the selection, and how to go about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from portcheck.suite import Selection

SHOW, SKIP, ONLY = "show", "skip", "only"
STATIC = (SHOW, SKIP, ONLY)  # compare predictions with verdicts; take them instead of compiling; and compile nothing


@dataclass(frozen=True, slots=True)
class Request:
    """One run as the user asks for it; the command line and a dodo.py both end here."""

    manifest: Path
    selection: Selection = field(default_factory=Selection)
    jobs: int = 1
    isolation: str = "fork"  # spawn: a fresh interpreter a cell
    inherit_site: bool = True  # in an environment, import what it lacks from the invoking interpreter's site-packages
    create: bool = True  # create environments that are missing
    force: bool = False  # compile what is known, too
    static: str = SHOW  # what predictions do: see STATIC
    remote: str | None = None  # a URL, instead of the manifest's
    audit: int | None = None  # check so many hits against their front ends
    max_failures: int | None = None  # stop after so many new failures
    baseline: Path | None = None  # failures that are known
    baseline_may_be_missing: bool = False  # it may be made later
    reports: Mapping[str, Path] = field(default_factory=dict)  # name of a format → where to write it
    github: bool = False  # tell GitHub Actions, too
    rewrite: bool = False  # write files even if they show these records already: times and `from` are of this run
    save_ir: Path | None = None
    color: bool = False  # of the matrix
    no_color: bool = False  # of the progress, either
    width: int | None = None  # columns of the terminal
    quiet: bool = False
    verbose: bool = False
    matrix: bool = True  # print it; a run of which only the verdicts are wanted prints nothing
    cache_of: Path | None = None  # the manifest whose cache is used, if it is not this run's own

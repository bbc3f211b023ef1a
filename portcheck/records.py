"""What records hold, as plain data: outcomes of cells in back records, and how they are read again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from portcheck.verdicts import Artifact, Outcome, Position, failure_from_dict, failure_to_dict


def outcome_to_dict(outcome: Outcome, artifacts: Mapping[str, Any]) -> dict[str, Any]:
    """An outcome with the packed artifacts that a store made."""
    return {
        "failure": failure_to_dict(outcome.failure),
        "seconds": outcome.seconds,
        "stages": dict(outcome.stages),
        "resources": dict(outcome.resources),
        "artifacts": dict(artifacts),
    }


def outcome_from_dict(data: Mapping[str, Any]) -> Outcome:
    """The inverse of `outcome_to_dict`, but for the artifacts' bytes.

    Raises:
        KeyError, TypeError, ValueError: the record is not one of ours.
    """
    return Outcome(
        failure=failure_from_dict(data["failure"]),
        seconds=float(data["seconds"]),
        stages=dict(data["stages"]),
        resources=dict(data["resources"]),
        artifacts={name: Artifact(entry["digest"], entry["size"]) for name, entry in data["artifacts"].items()},
    )


def position_from(place: Any) -> Position | None:
    """A place as the child gives it, [file, line, column]."""
    return Position(*place) if place else None

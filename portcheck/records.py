"""What records hold, as plain data: outcomes of cells in back records, and how they are read again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from portcheck.shapes import NUMBER, Fixed, shape
from portcheck.verdicts import SHORT, Artifact, Outcome, failure_from_dict, failure_to_dict

_FAILURE = {
    "verdict": str,
    "stage": str,
    "message": str,
    "error": (str, None),
    "raised": (str, None),
    "detail": str,
    "pass_name": (str, None),
    "position": (Fixed(str, int, (int, None)), None),
}
_OUTCOME = shape(
    {
        "failure": (_FAILURE, None),
        "seconds": NUMBER,
        "stages": {str: NUMBER},
        "resources": {str: (*NUMBER, None)},
        "artifacts": {str: {"digest": str, "size": int}},
    }
)


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
        ValueError: the record is not one of ours.
    """
    if not is_outcome(data):
        raise ValueError("no outcome")
    return Outcome(
        failure=failure_from_dict(data["failure"]),
        seconds=float(data["seconds"]),
        stages=dict(data["stages"]),
        resources=dict(data["resources"]),
        artifacts={name: Artifact(entry["digest"], entry["size"]) for name, entry in data["artifacts"].items()},
    )


def is_outcome(data: Any) -> bool:
    """Is it what `outcome_to_dict` gives?"""
    if not _OUTCOME(data):
        return False
    failure = data["failure"]
    return failure is None or (failure["verdict"] in SHORT and failure.keys() == _FAILURE.keys())

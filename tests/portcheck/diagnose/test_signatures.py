"""Signatures: every entry is sound, and what was recorded of other releases and of machines in trouble finds its own.

What the installed Triton says is in tests/acceptance/test_signatures.py.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from portcheck.diagnose.signatures import RECORDED, Signature, advise, signatures
from portcheck.verdicts import SHORT, Failure

HERE = Path(__file__).parent
MESSAGES = json.loads((HERE / "recorded.json").read_text())
CASES = HERE.parents[1] / "acceptance/signatures/portcheck.toml"


@pytest.mark.parametrize("signature", signatures(), ids=lambda signature: signature.id)
def test_an_entry_is_sound(signature: Signature) -> None:
    assert signature.verdicts <= SHORT.keys()
    assert signature.title and signature.why.endswith(".") and signature.do.endswith(".")
    placeholders = re.findall(r"\{(\w*)\}", signature.title + signature.why + signature.do)
    assert set(placeholders) <= signature.pattern.groupindex.keys()
    assert signature.see is None or re.fullmatch(r"https://github\.com/[\w./-]+/(issues|pull)/\d+", signature.see)
    assert _release(signature.first) <= _release(signature.last)


def test_there_are_many_and_each_has_a_name_of_its_own() -> None:
    names = [signature.id for signature in signatures()]

    assert len(names) == len(set(names)) >= 40


def test_each_has_a_case_and_each_case_an_entry() -> None:
    cells = {f"{row['name']}@{row['targets'][0]}" for row in tomllib.loads(CASES.read_text())["kernel"]}
    recorded = {entry["signature"] for entry in MESSAGES}

    assert {signature.case for signature in signatures()} - {RECORDED} == cells
    assert {signature.id for signature in signatures() if signature.case == RECORDED} <= recorded
    assert recorded <= {signature.id for signature in signatures()}


@pytest.mark.parametrize("entry", MESSAGES, ids=lambda entry: f"{entry['signature']} from {entry['from']}")
def test_what_was_recorded_finds_its_signature(entry: dict[str, str]) -> None:
    advice = advise(Failure(entry["verdict"], entry["stage"], entry["message"]))

    assert advice and advice.signature == entry["signature"]
    assert not re.search(r"\{\w+\}", advice.title + advice.why + advice.do)


def test_names_in_the_message_are_named_in_the_advice() -> None:
    advice = advise(
        Failure("frontend-error", "frontend", "module 'triton.language.extra.hip.libdevice' has no attribute 'cbrt'")
    )

    assert advice and advice.title == "libdevice.cbrt does not exist for AMD"


def test_an_unknown_failure_has_no_advice() -> None:
    assert advise(Failure("mlir-error", "ttgir", "'tt.frobnicate' op is not what it seems")) is None


def test_verdict_and_stage_have_to_fit() -> None:
    message = "LLVM ERROR: unsupported load type for producer commit"

    assert advise(Failure("mlir-error", "ttgir", message))
    assert advise(Failure("assembler-error", "cubin", message)) is None


def _release(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))

"""Which outputs of stages get into the page."""

from __future__ import annotations

import random
import zlib
from base64 import b64decode
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
import xxhash

from portcheck.report.html.outputs import embed
from portcheck.report.model import Report, build
from portcheck.toolchain.model import Toolchain
from portcheck.verdicts import Artifact, Failure

Keep = Callable[..., Report]


def digest(content: bytes) -> str:
    return xxhash.xxh3_128_hexdigest(content)


@pytest.fixture
def keep(judge: Any, toolchain: Callable[[str], Toolchain]) -> Keep:
    """`keep({"axpy": {"ttir": b"…"}}, failing=["axpy"])`: a report of rows whose outputs are kept."""

    def keep(rows: Mapping[str, Mapping[str, bytes]], failing: tuple[str, ...] = ()) -> Report:
        kept = {digest(content): content for stages in rows.values() for content in stages.values()}
        judged = []
        for name, stages in rows.items():
            artifacts = {stage: Artifact(digest(content), len(content)) for stage, content in stages.items()}
            failure = Failure("mlir-error", "ttgir", "no") if name in failing else None
            judged.append(judge(f"{name}@cuda:90@3.9.0", failure, outcome={"artifacts": artifacts}))
        report = build(judged, [toolchain("3.9.0")], 1.0, lambda cell: None)
        return replace(report, output=lambda _, artifact: kept.get(artifact.digest))

    return keep


def noise(size: int, seed: int = 0) -> bytes:
    return random.Random(seed).randbytes(size // 2).hex().encode()


def test_a_text_is_there_once_and_is_what_it_was(keep: Keep) -> None:
    found = embed(keep({"axpy": {"ttir": b"same", "ttgir": b"other"}, "scale": {"ttir": b"same"}}))

    texts = {zlib.decompress(b64decode(packed)) for packed in found.texts.values()}
    assert (len(found.texts), texts) == (2, {b"same", b"other"})


def test_binaries_are_left_out_by_name_and_by_content(keep: Keep) -> None:
    assert embed(keep({"axpy": {"cubin": b"text", "other": b"\xff\xfe", "llir": b"a\0b"}})).texts == {}


def test_what_the_cache_no_longer_has_is_named(keep: Keep) -> None:
    report = replace(keep({"axpy": {"ttir": b"text"}}), output=lambda *_: None)

    assert embed(report).gone == {digest(b"text")}


def test_failures_come_first_and_the_room_is_kept(keep: Keep) -> None:
    rows = {f"k{n}": {"ttgir": noise(1_000, n)} for n in range(40)}
    found = embed(keep(rows, failing=("k39",)), room=10_000)

    assert sum(map(len, found.texts.values())) <= 10_000
    assert next(iter(found.texts)) == digest(rows["k39"]["ttgir"])
    assert 5 < len(found.texts) < 40


def test_what_a_failed_stage_was_given_comes_before_all_else(keep: Keep) -> None:
    launch = {stage: noise(2_000, n) for n, stage in enumerate(("ttir", "ttgir", "llir"))} | {"cubin": b"\x7fELF"}
    found = embed(keep({"launch": launch, "early": {"ttir": b"given"}}, failing=("launch", "early")))

    assert list(found.texts) == [digest(b"given"), *(digest(launch[stage]) for stage in ("ttgir", "llir", "ttir"))]


def test_a_text_that_would_take_too_much_of_the_room_leaves_it_to_others(keep: Keep) -> None:
    found = embed(keep({"large": {"ttgir": noise(9_000)}, "small": {"ttgir": b"text"}}), room=10_000)

    assert list(found.texts) == [digest(b"text")]


def test_a_report_that_was_read_from_elsewhere_has_no_outputs(mixed: Report) -> None:
    assert embed(mixed).texts == {}

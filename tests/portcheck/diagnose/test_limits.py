"""Launch limits: what kernels ask for against what devices grant."""

from __future__ import annotations

import pytest

from portcheck.compiler.devices import properties
from portcheck.diagnose.fingerprint import fingerprint
from portcheck.diagnose.limits import Resources, apply, excesses, launch_failure, table
from portcheck.target import parse_target
from portcheck.verdicts import Failure, Outcome

FITS: Resources = {"shared": 65536, "tmem": 0, "registers": 64, "spills": 0, "num_warps": 8, "threads": 256}

# target, what is asked beyond FITS → the kind of limit as Triton calls it, asked, granted
BROKEN = [
    ("cuda:75", {"shared": 65537}, ("shared memory", 65537, 65536)),
    ("cuda:90", {"shared": 232449}, ("shared memory", 232449, 232448)),
    ("cuda:100", {"tmem": 513}, ("tensor memory", 513, 512)),
    ("cuda:90", {"threads": 2048}, ("threads", 2048, 1024)),
    ("hip:gfx942", {"threads": 2048}, ("threads", 2048, 1024)),
    ("hip:gfx1100", {"registers": 257}, ("registers", 257, 256)),
    # The H200 refused both of these with CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES.
    ("cuda:90", {"threads": 1024, "registers": 128}, ("threads", 1024, 512)),
    ("cuda:90", {"threads": 512, "registers": 136}, ("threads", 512, 384)),
]


@pytest.mark.parametrize(("target", "asked", "limit"), BROKEN)
def test_a_kernel_that_asks_for_more_than_the_device_grants(
    target: str, asked: Resources, limit: tuple[str, int, int]
) -> None:
    (excess,) = excesses(parse_target(target), {**FITS, **asked})

    assert (excess.kind, excess.asked, excess.granted) == limit


@pytest.mark.parametrize("target", table())
def test_what_a_device_grants_to_the_last_byte_is_not_too_much(target: object) -> None:
    limits = table()[target]  # type: ignore[index]

    asked = {"shared": limits.shared, "tmem": limits.tmem, "threads": limits.threads, "registers": 64}

    assert excesses(target, asked) == ()  # type: ignore[arg-type]


# Most threads that an H200 launched with so many registers each, and said that it would.
@pytest.mark.parametrize(
    ("registers", "most"),
    [
        (64, 1024),
        (65, 896),
        (72, 896),
        (80, 768),
        (96, 640),
        (128, 512),
        (129, 384),
        (168, 384),
        (169, 256),
        (252, 256),
    ],
)
def test_registers_limit_the_threads_as_on_the_device(registers: int, most: int) -> None:
    target = parse_target("cuda:90")

    assert excesses(target, {"threads": most, "registers": registers}) == ()
    if most < 1024:
        assert excesses(target, {"threads": most + 32, "registers": registers})[0].granted == most


def test_a_target_without_a_row_is_not_guessed_at() -> None:
    assert launch_failure(parse_target("cuda:87"), {"shared": 1 << 30, "threads": 1 << 20}) is None


def test_unknown_resources_break_no_limit() -> None:
    assert launch_failure(parse_target("cuda:90"), {}) is None
    assert launch_failure(parse_target("cuda:90"), {"shared": None, "registers": None, "threads": 128}) is None


def test_the_failure_says_what_is_asked_what_is_granted_and_who_says_so() -> None:
    failure = launch_failure(parse_target("cuda:86"), {**FITS, "shared": 131072})

    assert failure is not None
    assert (failure.verdict, failure.stage) == ("launch-limit", "launch")
    assert failure.message == "asks for 131072 bytes of shared memory a block; cuda:86 grants 101376"
    assert "OutOfResources: shared memory, Required: 131072, Hardware limit: 101376" in failure.detail
    assert "https://github.com/NVIDIA/cccl/" in failure.detail


def test_a_kernel_that_breaks_two_limits_is_told_the_one_that_triton_finds_first() -> None:
    failure = launch_failure(parse_target("cuda:90"), {**FITS, "shared": 262144, "threads": 2048})

    assert failure is not None
    assert "shared memory" in failure.message
    assert "2048 threads" in failure.detail


def test_fingerprints_group_by_kind_of_limit() -> None:
    def print_of(target: str, asked: Resources) -> str:
        failure = launch_failure(parse_target(target), {**FITS, **asked})
        assert failure is not None
        return fingerprint(failure)

    shared = {print_of("cuda:75", {"shared": 70000}), print_of("hip:gfx942", {"shared": 262144})}
    threads = {print_of("cuda:90", {"threads": 2048}), print_of("hip:gfx950", {"threads": 4096})}
    registers = {
        print_of("cuda:90", {"threads": 512, "registers": 136}),
        print_of("cuda:80", {"threads": 1024, "registers": 90}),
    }

    assert [len(shared), len(threads), len(registers)] == [1, 1, 1]
    assert len(shared | threads | registers) == 3


def test_the_setting_decides_what_becomes_of_it() -> None:
    compiled, target = Outcome(resources={"shared": 262144}), parse_target("cuda:90")

    failed, no_warning = apply(compiled, target, "fail")
    warned, warning = apply(compiled, target, "warn")

    assert (failed.verdict, no_warning) == ("launch-limit", None)
    assert failed.resources == compiled.resources
    assert (warned, warning and warning.verdict) == (compiled, "launch-limit")
    assert apply(compiled, target, "off") == (compiled, None)


def test_what_failed_to_compile_is_not_judged_again() -> None:
    failed = Outcome(Failure("unraised-error", "ptx", "an error"), resources={"shared": 262144})

    assert apply(failed, parse_target("cuda:90"), "fail") == (failed, None)


def test_every_row_says_where_its_numbers_are_from() -> None:
    for limits in table().values():
        assert {"shared", "threads", "registers"} <= limits.sources.keys()
        assert all(source.link.startswith("https://") for source in limits.sources.values())


def test_the_device_that_is_not_there_has_as_much_shared_memory() -> None:
    assert {target: properties(target)["shared_memory"] for target in table()} == {
        target: limits.shared for target, limits in table().items()
    }

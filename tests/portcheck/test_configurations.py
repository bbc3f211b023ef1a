"""Which configurations are compiled, and what becomes of their row."""

from __future__ import annotations

import pytest

from portcheck.configurations import Configuration, choose, combine, is_passed_over
from portcheck.verdicts import Configs, Failed, Failure, Outcome, Result

TOO_LARGE = Failure("launch-limit", "launch", "needs too much shared memory")
NO_LINKER = Failure("toolchain-error", "hsaco", "ld.lld not found")

# An assertion in a function that the kernel calls: the front end wraps it in another error on the way.
ASSERTED_BELOW = Failure(
    "frontend-error",
    "frontend",
    "no",
    error="triton.compiler.errors.CompileTimeAssertionFailure",
    raised="triton.compiler.errors.CompilationError",
)


def configuration(block: int, warps: int = 4, stages: int = 3) -> Configuration:
    label = f"BLOCK={block}, num_warps={warps}, num_stages={stages}"
    return Configuration(label, {"BLOCK": block}, {"num_warps": warps, "num_stages": stages}, {})


SMALL, LARGE, NARROW, WIDE, DEEP = (
    configuration(16),
    configuration(256),
    configuration(64, warps=1),
    configuration(64, warps=8),
    configuration(128, stages=7),
)
ALL = (configuration(64), SMALL, NARROW, WIDE, LARGE, DEEP)


@pytest.mark.parametrize(
    ("how", "chosen"),
    [
        ("first", ALL[:1]),
        ("all", ALL),
        ("extremes", (SMALL, NARROW, WIDE, DEEP)),  # 128 * 7 stages are more than 256 * 3
        ("sample:6", ALL),
        ("sample:100", ALL),
    ],
)
def test_which_are_compiled(how: str, chosen: tuple[Configuration, ...]) -> None:
    assert choose(ALL, how) == chosen


def test_a_sample_does_not_depend_on_the_order_of_the_others() -> None:
    some = choose(ALL, "sample:3")

    assert len(some) == 3
    assert {one.label for one in choose(ALL[::-1], "sample:3")} == {one.label for one in some}


def test_an_extreme_configuration_is_compiled_once() -> None:
    assert choose((SMALL,), "extremes") == (SMALL,)


def test_a_row_is_ok_if_one_of_its_configurations_is() -> None:
    judged = [(LARGE, failed(TOO_LARGE)), (SMALL, passed()), (WIDE, passed())]

    result = combine(judged, "any", total=9)

    assert result.outcome.failure is None
    assert result.configs == Configs(2, 3, 9, shown=SMALL.label, failed=(Failed(LARGE.label, TOO_LARGE),))
    assert result.outcome.seconds == pytest.approx(0.3)


def test_or_if_all_are_where_that_is_asked() -> None:
    result = combine([(SMALL, passed()), (LARGE, failed(TOO_LARGE))], "all", total=2)

    assert result.outcome.failure == TOO_LARGE
    assert result.configs is not None
    assert (result.configs.ok, result.configs.shown) == (1, LARGE.label)


def test_a_row_with_no_survivor_fails_as_its_first_configuration_does() -> None:
    other = Failure("crash", "ttgir", "its process was killed by signal 6")

    assert combine([(SMALL, failed(TOO_LARGE)), (WIDE, failed(other))], "any", 2).outcome.failure == TOO_LARGE


def test_a_missing_tool_is_told_before_any_other_failure() -> None:
    result = combine([(SMALL, failed(TOO_LARGE)), (WIDE, failed(NO_LINKER))], "any", 2)

    assert result.outcome.failure == NO_LINKER


@pytest.mark.parametrize(
    ("origins", "origin"),
    [
        (["cached", "cached"], "cached"),
        (["cached", "remote"], "remote"),
        (["cutoff", "remote"], "cutoff"),
        (["cached", "compiled", "cutoff"], "compiled"),
    ],
)
def test_a_row_comes_from_where_its_dearest_configuration_does(origins: list[str], origin: str) -> None:
    judged = [(SMALL, passed(one)) for one in origins]

    assert combine(judged, "any", len(judged)).origin == origin


def test_what_heuristics_compute_alone_is_no_choice() -> None:
    computed = Configuration("", {"EVEN": True}, {}, {})

    assert combine([(computed, passed())], "any", total=1).configs is None


@pytest.mark.parametrize(
    ("failure", "passes"),
    [
        (TOO_LARGE, True),
        (Failure("assembler-error", "cubin", "no", raised="triton.runtime.errors.PTXASError"), True),
        (
            Failure("frontend-error", "frontend", "no", raised="triton.compiler.errors.CompileTimeAssertionFailure"),
            True,
        ),
        (ASSERTED_BELOW, False),
        (Failure("frontend-error", "frontend", "no", raised="builtins.ValueError"), False),
        (Failure("mlir-error", "ttgir", "no", raised="builtins.RuntimeError"), False),
        (Failure("crash", "llir", "its process was killed by signal 6"), False),
    ],
)
def test_what_triton_s_autotuner_passes_over(failure: Failure, passes: bool) -> None:
    assert is_passed_over(failure) == passes


def passed(origin: str = "compiled") -> Result:
    return Result(Outcome(seconds=0.1), origin)


def failed(failure: Failure) -> Result:
    return Result(Outcome(failure, seconds=0.1), "compiled")

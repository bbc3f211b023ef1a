"""What autotuners and heuristics choose from, asked in a child with the real Triton."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from portcheck.compiler.attempt import Attempt
from portcheck.compiler.job import Job, Unit
from portcheck.compiler.service import Service
from portcheck.target import Target

Write = Callable[[str, str], str]

CUDA, HIP = Target("cuda", "90"), Target("hip", "gfx942")
TENSOR = {"type": "*fp32", "divisible": True, "large": False}
NUMBER = {"type": "i32", "divisible": False, "large": False}
SIXTEENS = {"type": "i32", "divisible": True, "large": False}
DESCRIPTOR = {"type": "tensordesc<fp16[8, 8]>", "divisible": False, "large": False}

KERNELS = """
import triton
import triton.language as tl
from triton.runtime import driver

def blocks(*sizes, **more):
    return [triton.Config({"BLOCK": size}, num_warps=2, num_stages=1, **more) for size in sizes]

def small_ones(configs, named_args, **kwargs):
    assert named_args["LIMIT"] == kwargs["LIMIT"]
    return [config for config in configs if config.kwargs["BLOCK"] <= named_args["LIMIT"]]

def that_fit(configs, named_args, **kwargs):
    room = driver.active.utils.get_device_properties(0)["max_shared_mem"]
    return [config for config in configs if config.kwargs["BLOCK"] * 1024 <= room]

def none_at_all(configs, named_args, **kwargs):
    return configs[:0] or configs[3]

def by_length(configs, named_args, **kwargs):
    try:
        return configs[:1] if named_args["n"] < 100 else configs[1:]
    except Exception:
        return configs

def slow_where_large(BLOCK, **_):
    return BLOCK

def shape(args):
    args["y"].zero_()
    args["x"].block_shape = [args["BLOCK"], 64]

def first_shape(args):
    args["x"].block_shape = [args["x"].shape[0] // args["BLOCK"], 64]

def tuned(*configs, **more):
    return triton.autotune(list(configs), key=[], **more)

def pruned(by):
    return tuned(*blocks(32, 64, 128), prune_configs_by={"early_config_prune": by})

@tuned(*blocks(32, 64))
@triton.jit
def plain(x, y, n, LIMIT: tl.constexpr, BLOCK: tl.constexpr):
    pass

@tuned(triton.Config({"BLOCK": 16, "waves_per_eu": 2}, num_warps=1, num_stages=1, num_ctas=2))
@triton.jit
def with_options(x, y, n, LIMIT: tl.constexpr, BLOCK: tl.constexpr):
    pass

@pruned(small_ones)
@triton.jit
def pruned_by_constants(x, y, n, LIMIT: tl.constexpr, BLOCK: tl.constexpr):
    pass

@pruned(that_fit)
@triton.jit
def pruned_by_device(x, y, n, LIMIT: tl.constexpr, BLOCK: tl.constexpr):
    pass

@pruned(by_length)
@triton.jit
def pruned_by_length(x, y, n, LIMIT: tl.constexpr, BLOCK: tl.constexpr):
    pass

@pruned(none_at_all)
@triton.jit
def pruned_by_mistake(x, y, n, LIMIT: tl.constexpr, BLOCK: tl.constexpr):
    pass

@tuned(*blocks(128, 32, 64), prune_configs_by={"perf_model": slow_where_large, "top_k": 2})
@triton.jit
def modelled(x, y, n, LIMIT: tl.constexpr, BLOCK: tl.constexpr):
    pass

@triton.heuristics({"HAS_Y": lambda args: args["y"] is not None, "WIDE": lambda args: args["BLOCK"] > 32})
@tuned(*blocks(32, 64))
@triton.jit
def heuristics_first(x, y, n, BLOCK: tl.constexpr, HAS_Y: tl.constexpr, WIDE: tl.constexpr):
    pass

@tuned(*blocks(32, 64))
@triton.heuristics({"EVEN": lambda args: args["n"] % 16 == 0, "WIDE": lambda args: args["BLOCK"] > 32})
@triton.jit
def heuristics_last(x, y, n, BLOCK: tl.constexpr, EVEN: tl.constexpr, WIDE: tl.constexpr):
    pass

@tuned(*blocks(32, 64, pre_hook=shape))
@triton.jit
def hooked(x, y, n, BLOCK: tl.constexpr):
    pass

@tuned(*blocks(32, 64, pre_hook=first_shape))
@triton.jit
def hooked_by_shape(x, y, n, BLOCK: tl.constexpr):
    pass

@tuned(*blocks(print, 64))
@triton.jit
def unwritable(x, y, n, LIMIT: tl.constexpr, BLOCK: tl.constexpr):
    pass

@tuned(*blocks(32, 64))
@tuned(triton.Config({"LIMIT": 1}), triton.Config({"LIMIT": 2}))
@triton.jit
def twice(x, y, n, LIMIT: tl.constexpr, BLOCK: tl.constexpr):
    pass
"""


@pytest.fixture(scope="session")
def unit(write: Write) -> Unit:
    return Unit(write("configurations.py", KERNELS), True, ("plain",))


@pytest.fixture(scope="session")
def ask(service: Service, unit: Unit) -> Callable[..., dict[str, Any]]:
    """`ask("plain", LIMIT=64)`: what a launch of that kernel chooses from, with constants and arguments as given."""

    def ask(function: str, target: Target = CUDA, **given: Any) -> dict[str, Any]:
        arguments = {"x": TENSOR, "y": TENSOR, "n": NUMBER, **given}
        signature = {name: value for name, value in arguments.items() if isinstance(value, dict) and "type" in value}
        constants = {name: value for name, value in arguments.items() if name not in signature}
        spec = {"signature": signature, "constants": constants, "options": {}}
        job = Job(unit, function, spec, target, timeout=60, max_rss=4 << 30, kind="configurations")
        attempt = service.compile(job)
        assert isinstance(attempt, Attempt)
        assert attempt.result is not None, attempt.err
        return dict(attempt.result)

    return ask


Ask = Callable[..., dict[str, Any]]


def test_each_configuration_sets_constants_and_options(ask: Ask) -> None:
    plain = {"num_warps": 2, "num_ctas": 1, "num_stages": 1}

    assert ask("plain", LIMIT=1)["configurations"] == [
        {
            "label": f"BLOCK={block}, num_warps=2, num_stages=1",
            "constants": {"BLOCK": block},
            "options": plain,
            "signature": {},
        }
        for block in (32, 64)
    ]


def test_what_is_no_parameter_of_the_kernel_is_an_option(ask: Ask) -> None:
    (found,) = ask("with_options", LIMIT=1)["configurations"]

    assert found["constants"] == {"BLOCK": 16}
    assert found["options"] == {"waves_per_eu": 2, "num_warps": 1, "num_ctas": 2, "num_stages": 1}
    assert found["label"] == "BLOCK=16, waves_per_eu=2, num_warps=1, num_ctas=2, num_stages=1"


@pytest.mark.parametrize(
    ("function", "given", "blocks"),
    [
        ("pruned_by_constants", {"LIMIT": 64}, [32, 64]),
        ("modelled", {"LIMIT": 1}, [32, 64]),
        ("pruned_by_length", {"LIMIT": 1, "n": 99}, [32]),  # an argument whose value the row gives
        ("pruned_by_device", {"LIMIT": 1}, [32, 64, 128]),
        ("twice", {}, [32, 32, 64, 64]),
    ],
)
def test_pruning_is_honoured(ask: Ask, function: str, given: dict[str, Any], blocks: list[int]) -> None:
    assert [one["constants"]["BLOCK"] for one in ask(function, **given)["configurations"]] == blocks


def test_pruning_asks_the_device_that_it_is_for(ask: Ask) -> None:
    found = ask("pruned_by_device", target=HIP, LIMIT=1)["configurations"]

    assert [one["constants"]["BLOCK"] for one in found] == [32, 64]  # 64 KiB of LDS


@pytest.mark.parametrize(
    ("function", "given", "computed"),
    [
        ("heuristics_last", {"n": SIXTEENS}, [{"EVEN": True, "WIDE": False}, {"EVEN": True, "WIDE": True}]),
        ("heuristics_last", {"EVEN": False}, [{"WIDE": False}, {"WIDE": True}]),  # the row's own value stays
        ("heuristics_first", {"WIDE": True}, [{"HAS_Y": True}, {"HAS_Y": True}]),
        ("heuristics_first", {"WIDE": True, "y": {"none": True}}, [{"HAS_Y": False}, {"HAS_Y": False}]),
    ],
)
def test_heuristics_are_computed(
    ask: Ask, function: str, given: dict[str, Any], computed: list[dict[str, bool]]
) -> None:
    found = [dict(one["constants"]) for one in ask(function, **given)["configurations"]]

    assert [one.pop("BLOCK") for one in found] == [32, 64]
    assert found == computed


def test_hooks_shape_descriptors(ask: Ask) -> None:
    found = ask("hooked", x=DESCRIPTOR)["configurations"]

    assert [one["signature"] for one in found] == [
        {"x": "tensordesc<fp16[32, 64]>"},
        {"x": "tensordesc<fp16[64, 64]>"},
    ]


@pytest.mark.parametrize(
    ("function", "given", "why"),
    [
        (
            "heuristics_last",
            {},
            "@triton.heuristics, for EVEN: depends on n, which the row does not say: "
            "give its value in constants, or that of EVEN",
        ),
        ("heuristics_first", {}, "@triton.heuristics, for WIDE: KeyError: 'BLOCK'"),
        (
            "pruned_by_length",
            {"LIMIT": 1},
            "pruning its configurations: depends on n, which the row does not say: give its value in constants",
        ),
        ("pruned_by_mistake", {"LIMIT": 1}, "pruning its configurations: IndexError: list index out of range"),
        (
            "hooked_by_shape",
            {"x": DESCRIPTOR},
            "the pre_hook of a configuration: depends on x.shape[0], which the row does not say: "
            "give its value in constants",
        ),
    ],
)
def test_what_cannot_be_told_says_why(ask: Ask, function: str, given: dict[str, Any], why: str) -> None:
    found = ask(function, **given)

    assert "configurations" not in found
    assert found["unknown"].startswith(why)


def test_a_value_that_no_manifest_could_write_says_so(ask: Ask) -> None:
    why = ask("unwritable", LIMIT=1)["unknown"]

    assert why.startswith(
        "BLOCK is set to <built-in function print>, a builtin_function_or_method: give it in constants"
    )

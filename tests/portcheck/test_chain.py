"""Chains of immutable records that end in an answer."""

from __future__ import annotations

import pytest

from portcheck.cache import Store
from portcheck.chain import Chains
from portcheck.keys import Key, make_key

World = dict[str, str]  # list → what is observed of it now


@pytest.fixture
def chains(store: Store) -> Chains:
    """Chains in an empty store."""
    return Chains(store, "inputs", lambda **parts: make_key("inputs", salt="", toolchain="toolchain", **parts))


@pytest.fixture
def first(chains: Chains) -> Key:
    """Where the chain of these tests starts."""
    return chains.make_key(unit="kernels.py")


def test_an_answer_holds_as_long_as_its_lists_are_observed_alike(chains: Chains, first: Key) -> None:
    world: World = {"a": "1", "b": "1"}
    chains.append(first, ["a", "b"], {"answer": 1}, world.get)

    end = chains.walk(first, world.get)
    assert (end.record, end.lists) == ({"answer": 1}, ("a", "b"))
    for name in world:
        assert chains.walk(first, {**world, name: "2"}.get).record is None


def test_answers_of_other_times_are_kept(chains: Chains, first: Key) -> None:
    one, two = {"a": "1"}, {"a": "2"}
    chains.append(first, ["a"], {"answer": 1}, one.get)
    chains.append(first, ["a"], {"answer": 2}, two.get)

    assert chains.walk(first, one.get).record == {"answer": 1}
    assert chains.walk(first, two.get).record == {"answer": 2}


def test_a_list_that_only_a_later_state_reads_is_a_further_link(chains: Chains, first: Key) -> None:
    chains.append(first, ["a"], {"answer": 1}, {"a": "1"}.get)
    later = {"a": "2", "b": "1"}
    chains.append(first, ["a", "b"], {"answer": 2}, later.get)

    assert chains.walk(first, later.get).record == {"answer": 2}
    assert chains.walk(first, {**later, "b": "2"}.get).record is None
    assert chains.walk(first, {"a": "1", "b": "2"}.get).record == {"answer": 1}


def test_an_answer_stays_as_it_is(chains: Chains, first: Key) -> None:
    world: World = {"a": "1"}
    key = chains.append(first, ["a"], {"answer": 1}, world.get)

    assert chains.append(first, ["a"], {"answer": 2}, world.get) == key
    assert chains.walk(first, world.get).record == {"answer": 1}


def test_a_list_that_is_lost_ends_the_walk_without_an_answer(chains: Chains, first: Key) -> None:
    chains.append(first, ["a"], {"answer": 1}, {"a": "1"}.get)

    assert chains.walk(first, {}.get).record is None


def test_nothing_is_filed_that_depends_on_a_list_that_is_lost(chains: Chains, first: Key) -> None:
    assert chains.append(first, ["a", "b"], {"answer": 1}, {"a": "1"}.get) is None

    assert chains.walk(first, {"a": "1"}.get).record is None


def test_a_chain_that_never_ends_is_not_followed(chains: Chains, first: Key, store: Store) -> None:
    key = first
    for _ in range(100):
        store.put("inputs", key.hex, key.preimage, {"inputs": "a"})
        key = chains._next(key, "1")

    assert chains.walk(first, {"a": "1"}.get).record is None


@pytest.mark.parametrize("inputs", [None, 7, ["a"], {"a": "1"}])
def test_a_link_that_names_no_list_leads_nowhere(chains: Chains, first: Key, inputs: object) -> None:
    chains.store.put("inputs", first.hex, first.preimage, {"inputs": inputs})

    assert chains.walk(first, {"a": "1"}.get).record is None

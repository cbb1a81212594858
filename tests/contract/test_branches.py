"""A branch on the value or on a coin is found, wherever it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core import hashing
from deniable.core.hashing import mix
from deniable.kernels import unary, words
from deniable.mechanisms.unary.unary_encoding import OptimizedUnaryEncoding
from deniable.testing.checks import check_no_branch_depends_on_the_value_or_on_a_coin as check
from deniable.testing.checks import check_no_branch_of_a_batch_depends_on_a_value_or_on_a_coin as check_batch
from tests.contract import cases, faults


@dataclass(frozen=True)
class ChoosesByABranch(dn.RandomizedResponse):
    """Makes all it may need of its word, and then branches on the coin."""

    def randomize_one(self, index: int, choices: Any) -> int:
        truth = self.thresholds["truth"]
        word = int(choices._next())
        replacement = (word - truth) % 2**64 // ((2**64 - truth) // self.k)
        return index if word < truth else replacement


@dataclass(frozen=True)
class TreatsZeroApart(dn.RandomizedResponse):
    """Takes a short cut for the first value."""

    def randomize_one(self, index: int, choices: Any) -> int:
        return dn.RandomizedResponse.randomize_one(self, index and int(index), choices)


@dataclass(frozen=True)
class CountsUpToTheValue(dn.RandomizedResponse):
    """Loops as often as the value says."""

    def randomize_one(self, index: int, choices: Any) -> int:
        return dn.RandomizedResponse.randomize_one(self, sum(1 for _ in range(index)), choices)


@dataclass(frozen=True)
class BranchesOnItsOwnBit(OptimizedUnaryEncoding):
    """Writes the value's bit only if its coin is true."""

    def randomize_one(self, index: int, choices: Any) -> tuple[int, ...]:
        others = choices.coins(self.thresholds["other"], self.layout.slices, 32)
        bits = int(others[0]) & ~(1 << index)
        if choices.coin(self.thresholds["own"]):
            bits |= 1 << index
        return self.layout.words(bits & (2**self.k - 1))


@dataclass(frozen=True)
class SendsNoClassByABranch(dn.CyclotomicLocalHashing):
    """Branches where the value is the public number."""

    def _payload_of(self, index: int, truthful: bool, replacement: int, public: int) -> int:
        own = self._class_under(index, public)
        return public * self.classes + (replacement, replacement if own == self.classes else own)[truthful]


FAULTS = [
    (ChoosesByABranch, dn.RandomizedResponse),
    (TreatsZeroApart, dn.RandomizedResponse),
    (CountsUpToTheValue, dn.RandomizedResponse),
    (BranchesOnItsOwnBit, OptimizedUnaryEncoding),
]


@pytest.mark.parametrize(("fault", "sound"), FAULTS)
def test_a_branch_is_found(fault: Any, sound: Any) -> None:
    faults.assert_caught(lambda m: check(m, 1), sound(5, epsilon=1.0), fault(5, epsilon=1.0))


def test_a_branch_that_one_value_in_k_takes_is_found() -> None:
    sound, faulty = (one(5, epsilon=1.0) for one in (dn.CyclotomicLocalHashing, SendsNoClassByABranch))
    faults.assert_caught(lambda m: [check(m, seed) for seed in range(8)], sound, faulty)


def by_branches(index: int, keys: Sequence[int], size: int) -> int:
    """`permuted`, with a branch in every round."""
    for first, second in zip(keys[::2], keys[1::2], strict=True):
        partner = ((first * size >> 32) - index) % size
        if mix(second ^ max(index, partner)) >> 31:
            index = partner
    return index


@pytest.mark.parametrize("name", ["orr", "orappor"])
def test_a_branch_in_a_permutation_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    m = dn.mechanism(name, k=8, epsilon=1.0, cohorts=4, buckets=4)
    check(m, 1)
    keys = hashing.round_key(1, 2)
    assert all(by_branches(index, keys, 8) == hashing.permuted(index, keys, 8) for index in range(8))
    monkeypatch.setattr(hashing, "permuted", by_branches)
    with pytest.raises(AssertionError, match="part at by_branches"):
        check(m, 1)


def test_a_branch_on_the_element_zero_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    m = dn.mechanism("csr", k=5, epsilon=1.0)
    for seed in range(16):
        check(m, seed)
    sound = type(m.sets).element

    def element(sets: Any, place: int) -> int:
        return int(sound(sets, place)) or 0

    monkeypatch.setattr(type(m.sets), "element", element)
    with pytest.raises(AssertionError, match="same instructions"):
        [check(m, seed) for seed in range(16)]


@pytest.mark.parametrize("name", ["orr", "orappor", "cms", "hcms"])
def test_no_branch_depends_on_a_string_of_an_open_domain(name: str, seed: int) -> None:
    m = dn.mechanism(name, domain=dn.Domain.open(), epsilon=1.0, candidates=8, cohorts=16)
    check(m, seed)
    check_batch(m, seed)


def picked_by_a_branch(flag: Any, yes: Any, no: Any) -> Any:
    return yes if flag else no


@pytest.mark.parametrize("name", ["grr", "ss", "design", "csr", "hpgr", "clh", "olh", "blh", "orr"])
def test_a_choice_by_a_branch_in_a_loop_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    m = cases.of(name).one()
    check_batch(m, 1)
    monkeypatch.setattr(words.picked, "py_func", picked_by_a_branch)
    with pytest.raises(AssertionError, match="same instructions, and part at picked_by_a_branch"):
        check_batch(m, 1)
    check(m, 1)  # which does not see what only a batch does


def write_own_bit(indices: Any, words: Any, other: Any, own: Any, width: int, last: Any, out: Any) -> None:
    """`toss_bits`, with a branch at the word that holds the value's bit."""
    slices = out.shape[1]
    for i in range(out.shape[0]):
        first = i * (width * slices + 1)
        unary.toss_row(words[first : first + width * slices], other, width, out[i])
        for j in range(slices):
            if indices[i] >> 6 == j:
                place = np.uint64(indices[i] & 63)
                out[i, j] &= ~(np.uint64(1) << place)
                out[i, j] |= np.uint64(words[first + width * slices] < own) << place
        out[i, slices - 1] &= last


def test_a_branch_on_the_word_of_the_value_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    m = dn.mechanism("oue", k=70, epsilon=1.0)
    check_batch(m, 1)
    monkeypatch.setattr(unary.toss_bits, "py_func", write_own_bit)
    with pytest.raises(AssertionError, match="part at write_own_bit"):
        check_batch(m, 1)


@dataclass(frozen=True)
class SendsZerosAtOnce(dn.RandomizedResponse):
    """Leaves out the loop for a batch of the first value alone."""

    def randomize(self, indices: Any, words: Any, out: Any) -> Any:
        if indices.any():
            return dn.RandomizedResponse.randomize(self, indices, words, out)
        out[:] = words >= self.thresholds["truth"]
        return indices[:0]


def test_a_branch_before_the_loop_is_found() -> None:
    sound, faulty = (one(2, epsilon=1.0) for one in (dn.RandomizedResponse, SendsZerosAtOnce))
    faults.assert_caught(lambda m: check_batch(m, 1), sound, faulty)

"""All words of few bits, through the kernel and through the plain path, give the channel exactly."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import fields

import numpy as np

from deniable.core.arrays import Words
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.layouts.layout import Payload
from deniable.randomness.bounds import exponential_below
from deniable.randomness.choices import Choices
from deniable.testing.checks.payloads import tally
from deniable.testing.expectations import require, require_equal
from deniable.testing.traits import USUAL, Traits

_MOST_BITS = 17  # of all draws of a report together, where every combination of them is tried
_SAME_REJECTIONS = "how often a draw is rejected must not depend on the value"


def coarse(mechanism: Mechanism, bits: int) -> Mechanism:
    """The same code on words that are multiples of 2^(64 - bits): as if words had that many bits."""
    made = object.__new__(type(mechanism))
    for field in fields(mechanism):  # and nothing that was derived later and kept
        object.__setattr__(made, field.name, getattr(mechanism, field.name))
    thresholds = mechanism._thresholds(exponential_below(mechanism.epsilon), 2**bits)
    object.__setattr__(made, "thresholds", {name: t << (64 - bits) for name, t in thresholds.items()})
    object.__setattr__(made, "word_bits", bits)
    return made


def coarse_bits(m: Mechanism) -> int:
    """Few bits, but enough for every coin to differ from a fair one."""
    return max(5, min(8, 22 // m.stride))


def enumerable_bits(m: Mechanism, limit: int = 22, traits: Traits = USUAL) -> int:
    """The most bits a word may have when all words of a report are tried."""
    return min(11, limit // m.stride) if traits.draws is None else min(limit, _MOST_BITS) // traits.draws(m)


def every_word(m: Mechanism, bits: int, traits: Traits = USUAL) -> Words:
    """All words of one report, for words of that many bits: one row per report."""
    if traits.words is not None:
        return traits.words(m, bits)
    grid = np.arange(2**bits, dtype=np.uint64) << np.uint64(64 - bits)
    return np.stack(np.meshgrid(*[grid] * m.stride, indexing="ij"), axis=-1).reshape(-1, m.stride)


def check_kernel_makes_the_channel(m: Mechanism, bits: int, traits: Traits = USUAL) -> None:
    """All words of few bits, through `randomize`, make every report exactly as often as the channel says."""
    small = coarse(m, bits)
    words = every_word(m, bits, traits).reshape(-1)
    n = len(words) // m.stride
    rejections = set()
    for index, value in enumerate(m.domain.all_labels()):
        out = small.layout.empty(n)
        again = small.randomize(np.full(n, index, np.int64), words, out)
        rejections.add(len(again))
        accepted = np.delete(out, again, axis=0)
        matches_channel(small, value, tally(accepted), len(accepted), traits)
    require(len(rejections) == 1, _SAME_REJECTIONS)


class Counting:
    """Words that can tell how many were read."""

    def __init__(self, words: Iterable[int]) -> None:
        self.words, self.read = words, 0

    def __iter__(self) -> Iterator[int]:
        for word in self.words:
            self.read += 1
            yield word


def check_plain_path_makes_the_channel(m: Mechanism, bits: int, traits: Traits = USUAL) -> None:
    """All words of few bits, through `randomize_one`, make every report exactly as often as the channel says."""
    small = coarse(m, bits)
    rejections = set()
    for index, value in enumerate(m.domain.all_labels()):
        seen: Counter[Payload] = Counter()
        rejected = 0
        for words in every_word(m, bits, traits):
            overflow = Counting(itertools.repeat(2**64 - 1))  # which is never rejected
            choices = Choices(words, iter(overflow))
            payload = small.randomize_one(index, choices)
            require_equal(choices.read, m.stride, "the words that a report reads, whatever its value and coins,")
            if overflow.read:
                rejected += 1
            else:
                seen[payload] += 1
        rejections.add(rejected)
        matches_channel(small, value, seen, seen.total(), traits)
    require(len(rejections) == 1, _SAME_REJECTIONS)


def matches_channel(m: Mechanism, value: object, seen: Counter[Payload], total: int, traits: Traits = USUAL) -> None:
    """These reports, of `total` that were not rejected, are as frequent as the channel says."""
    chances = {payload: m.probability(payload, value) for payload in m.layout.all()}
    require(total > 0, "some words must not be rejected")
    require(seen.keys() <= chances.keys(), f"{seen.keys() - chances.keys()} must be among the reports of the layout")
    for each in set(map(traits.kind, chances)):
        # without rejected reports, kinds are no longer as frequent as in the channel; within one, all reports are
        own = {payload: chance for payload, chance in chances.items() if traits.kind(payload) == each}
        total, share = sum(seen[payload] for payload in own), sum(own.values())
        require(total > 0, f"some words must make a report of kind {each!r}")
        for payload, chance in own.items():
            wanted = f"{total * chance / share} of {total} words must lead from {value!r} to the report {payload!r}"
            require(seen[payload] * share == total * chance, f"{wanted}, and {seen[payload]} do")

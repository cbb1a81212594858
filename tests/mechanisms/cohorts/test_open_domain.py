"""Open domains: the contract holds on samples of strings, and so does simulation."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.domain.open import Open
from deniable.randomness.bounds import exponential_below
from deniable.randomness.choices import Choices
from deniable.randomness.keystream import Keystream
from tests.contract import checks as contract
from tests.mechanisms.cohorts.strings import STRINGS, of


@pytest.mark.parametrize("epsilon", [1e-6, 0.5, 1.0, 3.0, 20.0])
def test_the_channel_sums_to_one_and_stays_within_epsilon(epsilon: float) -> None:
    m = of(epsilon=epsilon)
    largest = 0
    for payload in m.layout.all():
        column = [m.probability(payload, value) for value in STRINGS]
        largest = max(largest, max(column) / min(column))
    assert all(sum(m.probability(payload, value) for payload in m.layout.all()) == 1 for value in STRINGS)
    assert largest == m.guarantee().ratio <= exponential_below(epsilon)


@pytest.mark.parametrize("value", ["", "example.org", "漢字"])
def test_all_words_give_the_channel_by_kernel_and_plain_path(value: str) -> None:
    m, bits = of(cohorts=5, buckets=3, candidates=1), 4
    small = contract.coarse(m, bits)
    words = contract.every_word(m, bits)
    index = m.domain.index(value)
    out = small.layout.empty(len(words))
    again = set(small.randomize(np.full(len(words), index, np.int64), words.reshape(-1), out).tolist())
    accepted = np.delete(out, list(again))
    assert 0 < len(accepted) < len(words)
    contract.matches_channel(small, value, contract.tally(accepted), len(accepted))
    for place, row in enumerate(words.tolist()):
        found = small.randomize_one(index, Choices(row, itertools.repeat(2**64 - 1)))
        assert place in again or found == out[place], "both paths must agree wherever no draw is rejected"


def test_a_batch_equals_one_by_one() -> None:
    m, keystream = of(), Keystream.seeded(3)
    indices = m.domain.indices(STRINGS * 30)
    batch, stream = m.payloads(indices, keystream), keystream.stream(0)
    for i, index in enumerate(indices.tolist()):
        words = stream.words(m.stride).tolist()
        assert int(batch[i]) == m.randomize_one(index, Choices(words, keystream.overflow(i)))


def test_reports_survive_their_bytes_and_the_spec_its_json() -> None:
    m = of(domain=dn.Domain.open(max_bytes=300, key="clé", other=True, no_answer="none"))
    again = dn.from_spec(m.spec.to_json())
    assert again == m
    assert again.fingerprint == m.fingerprint
    for value in [*STRINGS, None, 3]:
        report = m.privatize_one(value)
        assert again.decode(m.encode(report)) == report
    assert json.loads(m.spec.to_json())["domain"] == {
        "kind": "open",
        "key": "clé",
        "max_bytes": 300,
        "other": "(other)",
        "no_answer": "none",
    }


def test_specs_differ_where_hashes_do() -> None:
    specs = [
        of(),
        of(seed=1),
        of(domain=dn.Domain.open(key="a")),
        of(domain=dn.Domain.open(max_bytes=9)),
        of(cohorts=9),
    ]
    assert len({m.fingerprint for m in specs}) == len(specs)
    assert dn.Domain.open(key="a").index("x") != dn.Domain.open(key="b").index("x")


def test_simulated_strings_follow_the_channel() -> None:
    m, n = of(), 400_000
    for value in STRINGS[:4]:
        summary = dn.simulate(m, [n], candidates=[value], seed=4)
        chances = np.array([float(m.probability(payload, value)) for payload in m.layout.all()])
        assert summary.simulated
        assert summary.n == n
        assert (np.abs(summary.counts - n * chances) <= 6.2 * np.sqrt(n * chances * (1 - chances))).all()


def test_few_simulated_users_of_many_strings_follow_the_channel() -> None:
    m = of()
    strings = [str(number) for number in range(3000)]
    summary = dn.simulate(m, np.ones(3000, np.int64), candidates=strings, seed=4)
    chances = np.zeros(m.symbols)
    for text in strings:
        own = [cohort * m.buckets + m.functions.bucket(m.domain.index(text), cohort) for cohort in range(m.cohorts)]
        chances[own] += float(m.gain) / m.cohorts
    chances = chances / 3000 + float(m.two_level.low)
    assert (np.abs(summary.counts - 3000 * chances) <= 6.5 * np.sqrt(3000 * chances)).all()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({}, "candidates must be given"),
        ({"candidates": ["a"]}, "counts must be 1 whole numbers"),
        ({"candidates": "ab"}, "candidates must be a list of strings"),
        ({"candidates": ["a", 3]}, "value at position 1 must be a string"),
    ],
    ids=str,
)
def test_simulations_without_strings_for_their_counts_are_refused(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(dn.InvalidArgument, match=says):
        dn.simulate(of(), [1, 2], **arguments)


def test_catch_all_categories_are_always_looked_for() -> None:
    m = of(domain=dn.Domain.open(other=True, no_answer=True), cohorts=64, buckets=16, candidates=20, epsilon=4.0)
    assert isinstance(m.domain, Open)
    summary = m.summarize(m.privatize(["a", None, 5, 6] * 5000, seed=8))
    estimate = m.estimate(summary, candidates=["a"])
    assert estimate.domain.all_labels() == ["a", "(other)", "(no answer)", "(unlisted)"]
    low, high = estimate.interval(0.9999)
    assert ((low <= [0.25, 0.5, 0.25, 0]) & (high >= [0.25, 0.5, 0.25, 0])).all()

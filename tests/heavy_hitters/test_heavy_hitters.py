"""Heavy hitters: the document, and the exact channel of a user."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

import deniable as dn
from deniable.heavy_hitters.groups import uniform_levels
from deniable.heavy_hitters.strings import sequence
from deniable.randomness.choices import Choices
from deniable.randomness.keystream import Keystream
from tests.heavy_hitters.words import LETTERS, words


def test_the_document_survives_json_and_ties_reports_to_itself(hh: dn.HeavyHitters) -> None:
    again = dn.HeavyHitters.from_json(hh.to_json())
    assert again == hh
    assert hash(again) == hash(hh)
    assert again.fingerprint == hh.fingerprint
    assert again.levels == hh.levels
    other = dn.HeavyHitters.new(epsilon=4.0, alphabet=LETTERS, max_bytes=6, lengths=(3, 5, 7), cohorts=64, key="other")
    assert other != hh
    with pytest.raises(dn.FingerprintMismatch):
        other.summarize(hh.privatize(["a"]))
    with pytest.raises(dn.FingerprintMismatch):
        other.find(hh.empty_summary())
    with pytest.raises(dn.FingerprintMismatch):
        _ = other.empty_summary() + hh.empty_summary()


def test_levels_hash_in_different_ways(hh: dn.HeavyHitters) -> None:
    first, second, _ = hh.levels
    assert [first.functions.bucket(99, cohort) for cohort in range(20)] != [
        second.functions.bucket(99, cohort) for cohort in range(20)
    ]


def test_the_whole_channel_of_a_user_keeps_its_promise_exactly() -> None:
    small = dn.HeavyHitters.new(
        epsilon=1.0, alphabet="ab", max_bytes=2, lengths=(1, 3), cohorts=8, buckets=3, candidates=2
    )
    values = ["", "a", "b", "ab", "ba", "abba"]
    count, largest = len(small.levels), Fraction(0)
    for level, length in zip(small.levels, small.lengths, strict=True):
        for payload in level.layout.all():
            # Pr[level and report | value], the level being uniform
            chances = [level.probability(payload, sequence(v.encode(), 2)[:length]) / count for v in values]
            largest = max(largest, max(chances) / min(chances))
    assert largest == small.guarantee().ratio
    assert small.guarantee().ratio == max(level.guarantee().ratio for level in small.levels)
    assert small.guarantee().epsilon <= 1.0
    for value in values:
        total = sum(
            level.probability(payload, sequence(value.encode(), 2)[:length]) / count
            for level, length in zip(small.levels, small.lengths, strict=True)
            for payload in level.layout.all()
        )
        assert total == 1


@pytest.mark.parametrize("count", [1, 2, 3, 7, 64])
def test_levels_of_a_batch_are_those_of_one_by_one_also_when_words_are_rejected(count: int) -> None:
    keystream = Keystream.seeded(1)
    few = np.array([0, 1, 2, 2**63, 2**64 - 1, 2**64 // 3, 2**64 // 7 + 1], np.uint64)
    drawn = np.concatenate([few, keystream.stream(9).words(200)])
    found = uniform_levels(count, drawn, keystream)
    expected = [Choices([word], keystream.overflow(i)).below(count) for i, word in enumerate(drawn.tolist())]
    assert found.tolist() == expected


def test_reports_of_a_level_are_its_mechanisms() -> None:
    """Chi-square at alpha 1e-9 of the reports of one value against the exact channel, level included."""
    from scipy.stats import chi2

    n, small = (
        60_000,
        dn.HeavyHitters.new(
            epsilon=1.0, alphabet="ab", max_bytes=2, lengths=(1, 3), cohorts=8, buckets=3, candidates=2
        ),
    )
    made = small.privatize(["ab"] * n, seed=4)
    cells = list(itertools.product(range(2), small.levels[0].layout.all()))
    seen = Counter(zip(made.levels.tolist(), made.reports.data.tolist(), strict=True))

    def distance(value: bytes) -> float:
        lengths = small.lengths
        chances = [float(small.levels[g].probability(p, sequence(value, 2)[: lengths[g]])) / 2 for g, p in cells]
        return sum((seen[cell] - n * p) ** 2 / (n * p) for cell, p in zip(cells, chances, strict=True))

    limit = chi2.isf(1e-9, len(cells) - 1)
    assert distance(b"ab") < limit
    assert distance(b"ba") > limit  # the test can tell a wrong value


def test_one_person_and_a_batch_are_counted_alike(hh: dn.HeavyHitters) -> None:
    pairs = [hh.privatize_one("abc") for _ in range(30)]
    assert {level for level, _ in pairs} <= {0, 1, 2}
    assert all(report.fingerprint == hh.levels[level].fingerprint for level, report in pairs)
    summary = hh.summarize(pairs)
    assert summary.n == 30
    assert not summary.simulated
    assert [part.n for part in summary.levels] == [sum(level == g for level, _ in pairs) for g in range(3)]


def test_reports_and_summaries_survive_their_files(hh: dn.HeavyHitters) -> None:
    first, second = hh.privatize(words(50, 9), seed=1), hh.privatize(["abc", b"abc", "ü"] * 60, seed=2)
    again = dn.HitterReports.from_arrow(first.to_arrow())
    assert again.reports == first.reports
    assert again.levels.tolist() == first.levels.tolist()
    both = hh.summarize(first) + hh.summarize(second)
    assert both == hh.summarize(first + second) == sum([hh.summarize(second), hh.summarize(first)])
    assert dn.HitterSummary.from_bytes(both.to_bytes()) == both
    assert both.simulated
    assert both + hh.empty_summary() == both
    for damaged in (both.to_bytes()[:-1], both.to_bytes()[:10], b"x" + both.to_bytes(), both.levels[0].to_bytes()):
        with pytest.raises(dn.MalformedSummary):
            dn.HitterSummary.from_bytes(damaged)


def test_a_simulated_summary_has_the_means_of_real_reports(hh: dn.HeavyHitters) -> None:
    counts = {"abc": 9000, "abcdefgh": 6000, "b": 3000}
    values = [word for word, count in counts.items() for _ in range(count)]
    runs = 8
    real = np.mean([hh.summarize(hh.privatize(values, seed=run)).levels[1].counts for run in range(runs)], axis=0)
    drawn = np.mean([hh.simulate(counts, seed=run).levels[1].counts for run in range(runs)], axis=0)
    # counts are nearly Poisson; 6 standard errors of a difference, and their squares as chi-square
    scores = (real - drawn) / np.sqrt((real + drawn + 1) / runs)
    assert np.abs(scores).max() < 6
    assert (scores**2).mean() < 1.3

"""Subset selection: its papers' numbers, its code, its simulation, and faults planted on purpose."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.estimation.channel import PureChannel
from deniable.kernels.subset_codes import encode_subsets
from deniable.mechanisms.subset_codes import decode_subset
from deniable.mechanisms.subset_selection import best_size
from deniable.mechanisms.two_level import TwoLevelMechanism
from deniable.randomness.bounds import exponential_below
from deniable.randomness.simulated_subsets import subset_counts
from tests import contract
from tests import naive_subsets as naive

SEED = 20260114


def made(k: int, epsilon: float, **parameters: int) -> dn.SubsetSelection:
    m = dn.mechanism("ss", k=k, epsilon=epsilon, **parameters)
    assert isinstance(m, dn.SubsetSelection)
    return m


# The papers' numbers ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("k", "epsilon", "w"), [(1024, 2.0, 122), (22_000, 2.0, 2622), (100, 1.0, 27), (10, 5.0, 1)])
def test_the_size_of_the_sets_is_the_published_one(k: int, epsilon: float, w: int) -> None:
    assert made(k, epsilon).w == w
    assert abs(w - k / (math.exp(epsilon) + 1)) < 1


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("k", [2, 3, 7, 20, 101])
def test_no_other_size_has_a_smaller_total_error(k: int, epsilon: float) -> None:
    def risk(w: int) -> float:
        return k * made(k, epsilon, w=w).variance(1 / k, target="population")

    chosen = made(k, epsilon).w
    assert risk(chosen) <= min(map(risk, range(1, k))) * (1 + 1e-12)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.0, 5.0])
@pytest.mark.parametrize("k", [2, 10, 1024, 22_000])
def test_the_total_error_at_uniform_data_is_the_published_one(k: int, epsilon: float) -> None:
    m, e, n = made(k, epsilon), math.exp(epsilon), 1000
    w = m.w
    total = k * m.variance(1 / k, n, target="population")
    assert total == pytest.approx((k - 1) ** 2 * (w * e + k - w) ** 2 / (n * k * w * (k - w) * (e - 1) ** 2), rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
def test_a_large_domain_reaches_the_optimum(epsilon: float) -> None:
    m, e = made(22_000, epsilon), math.exp(epsilon)
    assert m.variance(0.0) == pytest.approx(4 * e / (e - 1) ** 2, rel=2e-3)


@pytest.mark.parametrize(("k", "w"), [(2, 1), (5, 2), (12, 5), (64, 20), (65, 64), (300, 150)])
def test_the_short_formulas_are_those_of_the_design(k: int, w: int) -> None:
    m = made(k, 1.5, w=w)
    assert (m.reports, m.supporting) == (math.comb(k, w), math.comb(k - 1, w - 1))
    assert m.overlap == (math.comb(k - 2, w - 2) if w > 1 else 0)
    assert m.channel == TwoLevelMechanism._channel(m)
    assert m.share == TwoLevelMechanism.share.fget(m)  # type: ignore[attr-defined]
    assert m.ratio() == m.high / m.low
    assert m.reconstruction_rate() == m.reports * m.high / k
    e = exponential_below(1.5)
    p, q = w * e / (w * e + k - w), w * (e * (w - 1) + k - w) / ((k - 1) * (w * e + k - w))
    assert abs(m.channel.p - p) < Fraction(1, 2**64)
    assert abs(m.channel.q - q) < Fraction(1, 2**64)


def test_sets_of_one_value_are_randomised_response() -> None:
    ss, grr = made(7, 3.0), dn.mechanism("grr", k=7, epsilon=3.0)
    assert ss.w == 1
    assert ss.variance(0.1) == pytest.approx(grr.variance(0.1), rel=1e-12)
    assert float(ss.reconstruction_rate()) == pytest.approx(float(grr.reconstruction_rate()), rel=1e-12)


def test_the_frequencies_add_up_to_one_by_themselves(seed: int) -> None:
    m = made(300, 1.0)
    summary = m.summarize(m.privatize(np.arange(5000) % 300, seed=seed))
    assert int(summary.counts.sum()) == 5000 * m.w
    assert m.estimate(summary, "unbiased").frequencies.sum() == pytest.approx(1, abs=1e-9)
    default = m.estimate(summary)
    assert default.method == "projected"
    assert default.frequencies.min() >= 0
    assert default.frequencies.sum() == pytest.approx(1, abs=1e-12)
    assert "mle" not in m.methods  # the counts of a summary do not carry the likelihood


def test_a_huge_number_of_users_is_estimated() -> None:
    m, n = made(100, 1.0), 2**56
    counts = np.full(100, n * m.w // 100)
    counts[0] += n * m.w - int(counts.sum())
    summary = dn.Summary(counts, n, m.fingerprint)
    for method in ("unbiased", "projected", "normalized"):
        np.testing.assert_allclose(m.estimate(summary, method).frequencies, 0.01, rtol=1e-9)


# What is refused -------------------------------------------------------------------------------------


@pytest.mark.parametrize("w", [0, -1, 5, 2.0, "2", True])
def test_a_size_outside_1_to_k_minus_1_is_refused(w: object) -> None:
    with pytest.raises(dn.InvalidArgument, match="w must be a whole number from 1 to 4"):
        dn.SubsetSelection(5, 1.0, w=w)  # type: ignore[arg-type]


def test_a_domain_too_large_for_its_reports_is_refused_with_advice() -> None:
    with pytest.raises(dn.InvalidArgument, match=r"k must be at most 1048576 for ss.*grr"):
        dn.mechanism("ss", k=2**20 + 1, epsilon=1.0)


def test_extreme_epsilons_keep_the_size_within_the_domain() -> None:
    assert made(22_000, 50.0).w == 1
    assert made(22_000, 1e-6).w == 11_000
    assert best_size(2, exponential_below(1e-9)) == 1


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ([[3, 0]], "rows of 1 words"),
        ([3], "rows of 1 words"),
        ([[0.5]], "rows of 1 words"),
        ([[-1]], "negative"),
        ([[3], [1]], "position 1 must mark 2 of 5 values, got 1"),
        ([[7]], "must mark 2 of 5 values, got 3"),
        ([[33]], "beyond bit 4"),
    ],
)
def test_a_raw_array_that_marks_no_set_is_refused(raw: list[Any], message: str) -> None:
    with pytest.raises(dn.MalformedReport, match=message):
        made(5, 1.0, w=2).summarize(np.array(raw))


@pytest.mark.parametrize("counts", [[1, 1, 1, 1], [2, 2, 0, 0, 1], [3, 1, 0, 0, 0], [1, 1, 1, 0, 0]])
def test_a_summary_of_no_sets_is_not_estimated(counts: list[int]) -> None:
    m = made(5, 1.0, w=2)
    with pytest.raises(dn.MalformedSummary, match="5 counts of at most n = 2 that add up to 2 n"):
        m.estimate(dn.Summary(np.array(counts), 2, m.fingerprint))


# The code --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("k", "w"), [(12, 6), (17, 3), (16, 15), (11, 1)])
def test_exactly_as_many_byte_strings_are_accepted_as_there_are_sets(k: int, w: int) -> None:
    m = made(k, 1.0, w=w)
    accepted = 0
    for number in range(256**m.code_size):
        data = number.to_bytes(m.code_size, "big")
        row = decode_subset(data, k, w)
        if row is not None:
            accepted += 1
            assert m._pack(tuple(row)) == data
    assert accepted == m.reports == len(list(m.all_payloads()))


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 2.0, 4.0, 10.0])
@pytest.mark.parametrize("k", [2, 16, 100, 1024, 22_000, 2**20])
def test_a_code_exceeds_the_information_bound_by_one_byte_at_most(k: int, epsilon: float) -> None:
    m = made(k, epsilon)
    assert m.report_bits == (m.reports - 1).bit_length()
    assert -(-m.report_bits // 8) <= m.code_size <= -(-m.report_bits // 8) + 1


@pytest.mark.parametrize(("k", "epsilon"), [(1024, 2.0), (22_000, 2.0), (300, 0.1), (256, 8.0)])
def test_many_codes_are_those_made_one_by_one(k: int, epsilon: float, rng: np.random.Generator) -> None:
    m = made(k, epsilon)
    reports = m.privatize(rng.integers(0, k, 80))
    codes = m.encode_many(reports)
    assert [len(code) for code in codes] == [m.code_size] * 80
    assert m.decode_many(codes) == reports
    for i in range(3):
        assert m.encode(reports[i]) == codes[i]
        assert m.decode(codes[i]) == reports[i]
    assert m.encode_many(reports[:3]) == codes[:3]
    assert m.decode_many([]) == m.privatize([])


@pytest.mark.parametrize("w", [1, 2, 1000, 2**19, 2**20 - 1])
def test_the_largest_domain_has_room_for_the_first_and_the_last_set(w: int) -> None:
    m = made(2**20, 1e-3, w=w)
    for first in (0, 2**20 - w, (2**20 - w) // 2):
        bits = np.zeros(2**20, np.uint8)
        bits[first : first + w] = 1
        rows = np.packbits(bits, bitorder="little").view("<u8").astype(np.uint64)[np.newaxis]
        code = np.empty((1, m.code_size), np.uint8)
        encode_subsets(rows, m.k, w, code)
        assert m.decode(code.tobytes()).payload == tuple(rows[0].tolist())


def test_bytes_that_are_no_code_are_refused_by_position() -> None:
    m = made(1024, 2.0)
    good = m.encode_many(m.privatize(np.arange(70)))
    for bad in (b"", good[0][:-1], good[0] + b"\0", b"\xff" * m.code_size):
        with pytest.raises(dn.MalformedReport, match="position 2"):
            m.decode_many([*good[:2], bad, *good[3:]])
        with pytest.raises(dn.MalformedReport):
            m.decode(bad)


def test_random_bytes_of_the_right_length_decode_to_themselves_or_are_refused(rng: np.random.Generator) -> None:
    m = made(1000, 1.5)
    accepted = 0
    for _ in range(2000):
        data = rng.bytes(m.code_size)
        try:
            report = m.decode(data)
        except dn.MalformedReport:
            continue
        accepted += 1
        assert m.encode_many(dn.Reports(np.array([report.payload], np.uint64), m.fingerprint)) == [data]
    assert 0.5 < accepted / 2000 / (m.reports / 256**m.code_size) < 2


def test_batches_that_must_not_be_sent_are_refused() -> None:
    m = made(5, 1.0)
    with pytest.raises(dn.SimulatedReport):
        m.encode_many(m.privatize([1], seed=1))
    with pytest.raises(dn.FingerprintMismatch):
        m.encode_many(made(5, 1.1).privatize([1]))


def test_a_device_needs_no_compiler() -> None:
    program = """
import sys, deniable as dn
m = dn.mechanism("ss", k=2000, epsilon=1.0)
m.encode(m.privatize_one(17))
small = dn.mechanism("ss", k=200, epsilon=1.0)
assert small.decode(small.encode(small.privatize_one(3))).payload
assert not {"numba", "scipy", "pyarrow"} & sys.modules.keys()
"""
    subprocess.run([sys.executable, "-c", program], check=True)


# Simulation ------------------------------------------------------------------------------------------


def exact_law(m: dn.SubsetSelection, values: list[int]) -> dict[tuple[int, ...], float]:
    """The distribution of the counts of a few users, by enumeration."""
    law: Counter[tuple[int, ...]] = Counter()
    for chosen in itertools.product(list(m.all_payloads()), repeat=len(values)):
        chance = math.prod(float(m.probability(y, x)) for y, x in zip(chosen, values, strict=True))
        law[tuple(sum(m.marks(y, v) for y in chosen) for v in range(m.k))] += chance
    return law


@pytest.mark.parametrize(("k", "w", "values"), [(4, 2, [0, 3]), (4, 3, [1, 1]), (3, 1, [0, 1, 2]), (5, 2, [4, 2])])
def test_the_counts_of_few_users_follow_their_exact_joint_law(
    k: int, w: int, values: list[int], rng: np.random.Generator
) -> None:
    m = made(k, 1.0, w=w)
    law = exact_law(m, values)
    true = np.bincount(values, minlength=k)
    chance = float((m.channel.p - m.share) / (1 - m.share))
    n = 6000
    seen: Counter[tuple[int, ...]] = Counter()
    for _ in range(n):
        certain = rng.binomial(true, chance)
        seen[tuple(subset_counts(certain, len(values) - int(certain.sum()), w, rng).tolist())] += 1
    assert seen.keys() <= law.keys()
    expected = n * np.array(list(law.values()))
    assert not contract.chi_square_rejects(np.array([seen[counts] for counts in law], float), expected)


def test_simulated_counts_have_the_spread_of_real_ones(rng: np.random.Generator) -> None:
    # the sums are fixed, so the counts of two values are negatively correlated: their sum shows it
    m, runs = made(40, 1.0), 300
    true = np.full(40, 12_000)
    sums = [dn.simulate(m, true, seed=int(s)).counts[:20].sum() for s in rng.integers(0, 2**40, runs)]
    n, half = int(true.sum()), 20
    # half of the values: the number of them in a set has a hypergeometric law, a little off for the sender's own
    variance = n * m.w * 0.5 * 0.5 * (m.k - m.w) / (m.k - 1)
    assert np.var(sums) == pytest.approx(variance, rel=0.5)
    assert abs(np.mean(sums) - n * m.w / 2) < 6 * math.sqrt(variance / runs) * 1.5
    q = float(m.channel.q)
    assert half * n * q * (1 - q) > 1.9 * variance  # independent counts would be far off


def test_billions_of_users_are_simulated(seed: int) -> None:
    m = made(6, 1.0)
    true = np.array([3_000_000_000, 0, 1, 5, 0, 0])
    summary = dn.simulate(m, true, seed=seed)
    assert int(summary.counts.sum()) == summary.n * m.w
    errors = np.array([math.sqrt(m.variance(f, summary.n)) for f in true / summary.n])
    assert (np.abs(m.estimate(summary, "unbiased").frequencies - true / summary.n) < 6 * errors).all()


def test_few_and_many_users_have_the_same_mean(seed: int) -> None:
    m = made(200, 2.0)
    for true in (np.full(200, 5), np.full(200, 50_000)):  # reports made one by one, and by columns
        summary = dn.simulate(m, true, seed=seed)
        expected = summary.n * m.w / 200
        assert (np.abs(summary.counts - expected) < 6.5 * math.sqrt(expected)).all()
        assert int(summary.counts.sum()) == summary.n * m.w
    assert dn.simulate(m, np.zeros(200, np.int64)).n == 0


# Faults planted on purpose ---------------------------------------------------------------------------


class _Fault(dn.SubsetSelection):
    """Subset selection whose batch kernel is written out, so that a line of it can be wrong."""

    def randomize(self, indices: Any, words: Any, out: Any) -> Any:
        subsets, again = self.select(indices.tolist(), words.tolist())
        out[:] = [naive.bitmap(chosen, self.k) for chosen in subsets]
        return np.flatnonzero(again)

    def select(self, values: list[int], words: list[int]) -> tuple[list[set[int]], list[bool]]:
        return naive.select(values, words, self.thresholds["truth"], self.k, self.w, self.rejections.tolist())


@dataclass(frozen=True)
class ReplacesFloydsLast(_Fault):
    """One Floyd subset of w others, its last element replaced by the value: not uniform."""

    def select(self, values: list[int], words: list[int]) -> tuple[list[set[int]], list[bool]]:
        subsets, k, w = [], self.k, self.w
        for i, value in enumerate(values):
            coin, *draws = words[i * (w + 1) : (i + 1) * (w + 1)]
            chosen: list[int] = []
            for newest, word in zip(range(k - 1 - w, k - 1), draws, strict=True):
                drawn = word * (newest + 1) >> 64
                chosen.append(newest if drawn in chosen else drawn)
            if coin < self.thresholds["truth"]:
                chosen[-1] = k - 1
            subsets.append(naive.renamed(set(chosen), value, k - 1))
        return subsets, [False] * len(values)


@dataclass(frozen=True)
class DroppedRejection(dn.SubsetSelection):
    """Keeps draws that make some values likelier than others."""

    def _derive(self) -> None:
        super()._derive()
        object.__setattr__(self, "rejections", np.zeros_like(self.rejections))


@dataclass(frozen=True)
class RejectionForTheFirstDrawOnly(_Fault):
    """One of the draws is not tested."""

    def select(self, values: list[int], words: list[int]) -> tuple[list[set[int]], list[bool]]:
        rejections = [int(self.rejections[0]), *[0] * (self.w - 1)]
        return naive.select(values, words, self.thresholds["truth"], self.k, self.w, rejections)


@dataclass(frozen=True)
class WordsDependOnCoin(dn.SubsetSelection):
    """Draws the spare value only if the sender's own is not sent."""

    def randomize_one(self, index: int, choices: Any) -> Any:
        if choices.coin(self.thresholds["truth"]):
            others = choices.subset(self.k - 1, self.w - 1)
            return self.words(sum(1 << (v + (v >= index)) for v in others) | 1 << index)
        return self.words(sum(1 << (v + (v >= index)) for v in choices.subset(self.k - 1, self.w)))


@dataclass(frozen=True)
class WordsDependOnValue(dn.SubsetSelection):
    """Reads nothing at all for value 0."""

    def randomize_one(self, index: int, choices: Any) -> Any:
        return self.words(2**self.w - 1) if index == 0 else super().randomize_one(index, choices)


@dataclass(frozen=True)
class ForgetsTheSpareValue(_Fault):
    """Takes the value 0 for k - 2, where the spare one was put out of the way."""

    def select(self, values: list[int], words: list[int]) -> tuple[list[set[int]], list[bool]]:
        subsets, again = super().select(values, words)
        for chosen in subsets:
            if self.k - 2 in chosen and 0 not in chosen:
                chosen.remove(self.k - 2)
                chosen.add(0)
        return subsets, again


@dataclass(frozen=True)
class NeverExchangesTheValue(_Fault):
    """Sends every value as if it were the last one."""

    def select(self, values: list[int], words: list[int]) -> tuple[list[set[int]], list[bool]]:
        return super().select([self.k - 1] * len(values), words)


@dataclass(frozen=True)
class ThresholdRoundedUp(dn.SubsetSelection):
    """One step more truth than epsilon allows."""

    def _thresholds(self, bound: Fraction, modulus: int) -> dict[str, int]:
        return {"truth": super()._thresholds(bound, modulus)["truth"] + 1}


@dataclass(frozen=True)
class WrongThreshold(dn.SubsetSelection):
    """e^epsilon/(e^epsilon + k - 1), as for one value, however many the set has."""

    def _thresholds(self, bound: Fraction, modulus: int) -> dict[str, int]:
        super()._thresholds(bound, modulus)
        return {"truth": int(modulus * bound * self.w / (bound + self.k - 1))}


@dataclass(frozen=True)
class IdealProbabilities(dn.SubsetSelection):
    """Estimates with the p and q of e^epsilon instead of those of the integers that run."""

    def _channel(self) -> PureChannel:
        e, k, w = exponential_below(self.epsilon), self.k, self.w
        p = w * e / (w * e + k - w)
        return PureChannel(p, (p * (w - 1) + (1 - p) * w) / (k - 1))


@dataclass(frozen=True)
class OthersAsIfAlwaysTold(dn.SubsetSelection):
    """q = (w - 1)/(k - 1), as if every set held its sender's value."""

    def _channel(self) -> PureChannel:
        p = super()._channel().p
        return PureChannel(p, Fraction(self.w - 1, self.k - 1) + Fraction(1, 2**40))


@dataclass(frozen=True)
class ReadsAnyCode(dn.SubsetSelection):
    """Takes bytes that no client sends for one that it does."""

    def _unpack(self, data: bytes) -> Any:
        possible = list(self.all_payloads())
        return possible[int.from_bytes(data, "big") % len(possible)]


@dataclass(frozen=True)
class GuessFromTheWholeSet(dn.SubsetSelection):
    """States how often the set holds the value, not how often a guess from it is right."""

    def reconstruction_rate(self) -> Fraction:
        return self.channel.p


@dataclass(frozen=True)
class SimulatesTooLittleTruth(dn.SubsetSelection):
    """Lets p - q of the sets hold the value for certain, where (p - w/k)/(1 - w/k) is right."""

    def simulated_counts(self, true_counts: Any, generator: Any) -> Any:
        certain = generator.binomial(true_counts, float(self.channel.gain))
        return subset_counts(certain, int((true_counts - certain).sum()), self.w, generator)


def kernel(m: Any) -> None:
    contract.check_kernel_makes_the_channel(m, 4)


def plain_path(m: Any) -> None:
    contract.check_plain_path_makes_the_channel(m, 4)


def batch(m: Any) -> None:
    contract.check_batch_equals_one_by_one(m, SEED)


def coarse_unbiased(m: Any) -> None:
    contract.check_unbiased_and_variance(contract.coarse(m, 8))


def simulation(m: Any) -> None:
    contract.check_simulation_follows_channel(m, SEED)


FAULTS: list[tuple[type[dn.SubsetSelection], Callable[[Any], None]]] = [
    (ReplacesFloydsLast, kernel),
    (DroppedRejection, kernel),
    (DroppedRejection, plain_path),
    (RejectionForTheFirstDrawOnly, kernel),
    (WordsDependOnCoin, plain_path),
    (WordsDependOnValue, plain_path),
    (ForgetsTheSpareValue, kernel),
    (ForgetsTheSpareValue, batch),
    (NeverExchangesTheValue, kernel),
    (NeverExchangesTheValue, batch),
    (ThresholdRoundedUp, contract.check_largest_ratio_is_within_epsilon),
    (WrongThreshold, contract.check_largest_ratio_is_within_epsilon),
    (IdealProbabilities, coarse_unbiased),
    (OthersAsIfAlwaysTold, contract.check_unbiased_and_variance),
    (ReadsAnyCode, lambda m: contract.check_bytes_decode_or_are_refused(m, b"\x01")),
    (GuessFromTheWholeSet, contract.check_reconstruction_rate),
    (SimulatesTooLittleTruth, simulation),
]


@pytest.mark.parametrize(("fault", "check"), FAULTS, ids=lambda item: getattr(item, "__name__", "check"))
def test_a_planted_fault_is_caught(fault: type[dn.SubsetSelection], check: Callable[[Any], None]) -> None:
    check(dn.SubsetSelection(7, 1.0))  # the sound mechanism passes
    with pytest.raises(AssertionError):
        check(fault(7, 1.0))


def test_the_written_out_kernel_itself_is_sound() -> None:
    kernel(_Fault(7, 1.0))
    batch(_Fault(7, 1.0))

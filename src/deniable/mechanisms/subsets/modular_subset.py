"""Modular Subset Selection: subset selection of one residue of the value, for half the bits of subset selection.

The cohort J is uniform; the report is J and a subset of the residues modulo m_J that holds x mod m_J more often than
chance would. The server sees the histogram folded by each modulus and unfolds it by weighted least squares.

Reference: Arcolezi 2026, "Private frequency estimation via residue number systems".
"""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from deniable.core.arrays import Counts, Floats, Indices, Payloads, Words
from deniable.core.domain import Domain
from deniable.core.errors import InvalidArgument
from deniable.core.summary import Summary
from deniable.core.validate import between, choice, whole
from deniable.estimation.channel import TARGETS, PureChannel
from deniable.estimation.operators.marks import ResidueMarkOperator
from deniable.estimation.operators.residue_noise import ResidueNoise, SubsetChannel
from deniable.estimation.operators.residues import ResidueSystem
from deniable.mechanisms.base.definition import Payload, checked_epsilon
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.base.two_level import truth_threshold
from deniable.mechanisms.layouts.residues import ResidueReports
from deniable.mechanisms.layouts.subset_code import MAX_VALUES, subsets
from deniable.mechanisms.subsets.moduli import best_sizes, checked_moduli, checked_sizes, search
from deniable.mechanisms.subsets.subset_selection import bitmap, choose_subset
from deniable.randomness.bounds import exponential_below
from deniable.randomness.choices import Choices, rejection_bound
from deniable.randomness.keystream import MODULUS

_FEW_WORDS = 2**24  # reports of up to this many words in all are simulated one by one


@dataclass(frozen=True)
class ModularSubsetSelection(ResidueReports, Mechanism):
    """Modular Subset Selection, "mss".

    Without further arguments the moduli are searched for; `max_bits` bounds the bits of a report. A spec names them,
    and the size of the subsets of each.
    Guarantee: largest ratio T_j (m_j - w_j) / ((M - T_j) w_j) <= e^epsilon over all cohorts j.
    Cost: 2 + max w_j random words a report; m_j bits in memory; sum of m_j + 1 counts.

    >>> ModularSubsetSelection(1000, epsilon=1.0).report_bits
    454
    """

    name: ClassVar[str] = "mss"
    version: ClassVar[int] = 1
    default_method: ClassVar[str] = "projected"

    moduli: tuple[int, ...] = None  # type: ignore[assignment]  # pairwise coprime; found unless given
    sizes: tuple[int, ...] = None  # type: ignore[assignment]  # w_j, omega in the paper; the best ones unless given
    max_bits: InitVar[int | None] = None
    channels: tuple[PureChannel, ...] = field(init=False, repr=False, compare=False)  # on the residues, by cohort
    rejections: Words = field(init=False, repr=False, compare=False)

    def __post_init__(self, max_bits: int | None) -> None:
        k = Domain.of(self.domain).k
        bound = exponential_below(checked_epsilon(self.epsilon))
        if k > MAX_VALUES:
            raise InvalidArgument("k", f"be at most {MAX_VALUES} for mss, whose reports grow with k (use csr)", k)
        if bound == 1:
            raise InvalidArgument("epsilon", "be larger: no coin is that weak", self.epsilon)
        if max_bits is not None:
            max_bits = whole(1, max_bits=max_bits)
        found = search(k, bound, max_bits) if self.moduli is None else checked_moduli(self.moduli, k)
        if found is None:
            raise InvalidArgument("max_bits", f"be larger for k={k}: no moduli found for so few", max_bits)
        sizes = best_sizes(found, bound) if self.sizes is None else checked_sizes(self.sizes, found)
        object.__setattr__(self, "moduli", found)
        object.__setattr__(self, "sizes", sizes)
        super().__post_init__()

    def _parameters(self) -> dict[str, Any]:
        return {"moduli": list(self.moduli), "sizes": list(self.sizes)}

    def _thresholds(self, bound: Fraction, modulus: int) -> dict[str, int]:
        thresholds = {"rejection_cohort": rejection_bound(self.cohorts, modulus)}
        for j, (m, w) in enumerate(self._pairs):
            truth = truth_threshold(bound, modulus, w, m)
            if truth * m <= modulus * w:
                raise InvalidArgument("epsilon", f"be larger for k={self.k}: no 64-bit coin is that weak", self.epsilon)
            thresholds[f"truth_{j}"] = truth
        return thresholds

    def _derive(self) -> None:
        channels = []
        bounds = np.ones((self.cohorts, max(self.sizes)), np.uint64)
        for j, (m, w) in enumerate(self._pairs):
            p = Fraction(self.thresholds[f"truth_{j}"], MODULUS)
            channels.append(PureChannel(p, (w - p) / (m - 1)))  # a subset holds w residues: p + (m - 1) q = w
            bounds[j, :w] = [m - 1, *range(m - w, m - 1)]  # as in subset selection
        object.__setattr__(self, "channels", tuple(channels))
        # 2^b mod bound, of words of b bits
        largest, one = np.uint64(2**self.word_bits - 1), np.uint64(1)
        rejections = (largest % bounds + one) % bounds << np.uint64(64 - self.word_bits)
        object.__setattr__(self, "rejections", rejections)

    @property
    def stride(self) -> int:
        return 2 + max(self.sizes)  # the cohort, the coin, and draws enough for the largest subset

    def randomize_one(self, index: int, choices: Choices) -> tuple[int, ...]:
        cohort = choices.below(self.cohorts, self.thresholds["rejection_cohort"])
        m, w = self.moduli[cohort], self.sizes[cohort]
        rejections = self.rejections[cohort, :w].tolist()
        chosen = choose_subset(index % m, m, w, self.thresholds[f"truth_{cohort}"], rejections, choices)
        for _ in range(max(self.sizes) - w):
            choices.coin(0)  # read, like every word
        return (cohort, *bitmap(chosen, self.slices))

    def randomize(self, indices: Indices, words: Words, out: Payloads) -> Indices:
        from deniable.kernels.residues import select_residues

        truths = np.array([self.thresholds[f"truth_{j}"] for j in range(self.cohorts)], np.uint64)
        moduli, sizes = np.array(self.moduli, np.int64), np.array(self.sizes, np.int64)
        rejection = np.uint64(self.thresholds["rejection_cohort"])
        again = np.empty(len(indices), np.bool_)
        count = select_residues(
            indices, words, self.stride, moduli, sizes, truths, rejection, self.rejections, again, out
        )
        return np.flatnonzero(again) if count else np.empty(0, np.int64)

    def _probability(self, payload: Payload, index: int) -> Fraction:
        assert isinstance(payload, tuple)
        j = int(payload[0])
        (m, w), p = self._pairs[j], self.channels[j].p
        residue = index % m
        held = int(payload[1 + residue // 64]) >> residue % 64 & 1
        # one of the subsets with the residue, or of those without
        chance = p / subsets(m - 1, w - 1) if held else (1 - p) / subsets(m - 1, w)
        return chance / self.cohorts

    def ratio(self) -> Fraction:
        return max(self._ratios)

    @property
    def _ratios(self) -> list[Fraction]:
        """By cohort, how much likelier a report is from a value whose residue it marks."""
        # p C(m - 1, w) / ((1 - p) C(m - 1, w - 1)) = p (m - w) / ((1 - p) w)
        pairs = zip(self.channels, self._pairs, strict=True)
        return [channel.p * (m - w) / ((1 - channel.p) * w) for channel, (m, w) in pairs]

    def reconstruction_rate(self) -> Fraction:
        # (1/k) sum_y max_x Pr[y | x] = (1/l) sum p_j m_j/(k w_j), since every residue is that of some value
        pairs = zip(self.channels, self._pairs, strict=True)
        return sum((c.p * m / (self.k * w) for c, (m, w) in pairs), Fraction(0)) / self.cohorts

    def reconstruction_bound(self) -> Fraction:
        """The paper's equation 7, (1/l) sum p_j / (w_j ceil(k/m_j)): the rate if every m_j divided k, else below it."""
        pairs = zip(self.channels, self._pairs, strict=True)
        return sum((c.p / (w * -(-self.k // m)) for c, (m, w) in pairs), Fraction(0)) / self.cohorts

    def simulated_counts(self, true_counts: Counts, generator: np.random.Generator) -> Counts:
        from deniable.randomness.simulated_subsets import subset_counts

        if int(true_counts.sum()) * (1 + self.slices) <= _FEW_WORDS:
            return super().simulated_counts(true_counts, generator)
        split = generator.multinomial(true_counts, np.full(self.cohorts, 1 / self.cohorts)).T
        parts = []
        for own, (m, w), channel in zip(split, self._pairs, self.channels, strict=True):
            residues = np.bincount(np.arange(self.k) % m, own, m).astype(np.int64)
            share = Fraction(w, m)
            certain = generator.binomial(residues, float((channel.p - share) / (1 - share)))  # see subset_selection.py
            parts.append(subset_counts(certain, int(own.sum() - certain.sum()), w, generator))
        return np.concatenate([*parts, split.sum(axis=1)])

    @cached_property
    def _residue_channels(self) -> tuple[SubsetChannel, ...]:
        pairs = zip(self.channels, self._pairs, strict=True)
        return tuple(SubsetChannel(m, w, float(c.p), float(c.gain), float(c.q)) for c, (m, w) in pairs)

    @cached_property
    def system(self) -> ResidueSystem:
        """The moduli, each weighted by one over the variance of its residues."""
        weights = [channel.weight for channel in self._residue_channels]
        return ResidueSystem(self.k, self.moduli, tuple(weight / max(weights) for weight in weights))

    def residue_frequencies(self, summary: Summary) -> Floats:
        """For each modulus, unbiased frequencies of its residues, which sum to one."""
        residues, reports = np.split(summary.counts, [sum(self.moduli)])
        parts = []
        for counts, n, (m, w), channel in zip(
            self.system.blocks(residues), reports.tolist(), self._pairs, self.channels, strict=True
        ):
            # s_r = (C_r - n_j w/m) l / (n (p - q)) + 1/m: the total n_j w is known, so only deviations are scaled
            deviations = (counts * m - n * w) / m
            parts.append(deviations * (self.cohorts / (summary.n * float(channel.gain))) + 1 / m)
        return np.concatenate(parts)

    def unbiased(self, summary: Summary) -> Floats:
        return self.system.least_squares(self.residue_frequencies(summary))[0]

    def reports_operator(self, data: Payloads) -> ResidueMarkOperator:
        return ResidueMarkOperator.of(self.k, self.moduli, tuple(map(float, self._ratios)), data)

    def regularized(self, summary: Summary, ridge: float) -> Floats:
        """Least squares with a penalty of `ridge` (relative to the diagonal of the system) on squares: biased."""
        self.check_summary(summary)
        penalty = between(0, np.inf, ridge=ridge) * sum(self.system.weights)
        return self.system.least_squares(self.residue_frequencies(summary), penalty)[0]

    def noise(self, target: str) -> tuple[float, float, float]:
        """The average over values of an exact variance, by a sample of values beyond 640; see `noise_accuracy`."""
        own, others = self._noise.average
        users = choice(TARGETS, target=target) == "users"
        return (others, own - others, 0.0) if users else (others, own - others + 1, -1.0)

    @property
    def noise_is_average(self) -> bool:
        return True

    @cached_property
    def _noise(self) -> ResidueNoise:
        return ResidueNoise(self.system, self._residue_channels)

    def noise_accuracy(self) -> float:
        """Relative standard error of the stated variance: zero up to 640 values, else that of the sample."""
        return self._noise.accuracy

"""Modular Subset Selection: subset selection of one residue of the value, for half the bits of subset selection.

The cohort J is uniform; the report is J and a subset of the residues modulo m_J that holds x mod m_J more often than
chance would. The server sees the histogram folded by each modulus and unfolds it by weighted least squares.

Reference: Arcolezi 2026, "Private frequency estimation via residue number systems".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from deniable.core.arrays import Counts, Floats, Indices, Mask, Payloads, Words
from deniable.core.domain import Domain
from deniable.core.errors import InvalidArgument
from deniable.core.limits import Cost
from deniable.core.summary import Summary
from deniable.core.validate import whole
from deniable.estimation.channel import Noise, PureChannel, choice_threshold, for_target
from deniable.estimation.evidence import Evidence
from deniable.estimation.operators.marks import ResidueMarkOperator
from deniable.estimation.operators.residue_noise import ResidueNoise, SubsetChannel
from deniable.estimation.operators.residues import ResidueSystem
from deniable.estimation.tails import Steps
from deniable.mechanisms.base.client import randomized
from deniable.mechanisms.base.definition import CHOSEN, checked_epsilon
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.layouts.bitmaps import marked, marks, words_of_marks
from deniable.mechanisms.layouts.layout import Payload
from deniable.mechanisms.layouts.residues import ResidueLayout
from deniable.mechanisms.layouts.subset_code import MAX_VALUES
from deniable.mechanisms.numbers import binomial
from deniable.mechanisms.subsets.moduli import best_sizes, checked_moduli, checked_sizes, cost_of, search
from deniable.mechanisms.subsets.subset_selection import choose_subset
from deniable.randomness.bounds import exponential_below, rejection_bound
from deniable.randomness.choices import Choices
from deniable.randomness.keystream import MODULUS

_FEW_WORDS = 2**24  # reports of up to this many words in all are simulated one by one


@dataclass(frozen=True)
class ModularSubsetSelection(Mechanism):
    """Modular Subset Selection, "mss".

    The moduli, and the subset size for each, are searched for unless given; a spec names them.
    Guarantee: largest ratio T_j (m_j - w_j) / ((M - T_j) w_j) <= e^epsilon over all cohorts j.
    Cost: 2 + max w_j random words per report; m_j bits in memory; sum of m_j + 1 counts.

    >>> ModularSubsetSelection(1000, epsilon=1.0).report_bits
    454
    """

    name: ClassVar[str] = "mss"
    version: ClassVar[int] = 1
    default_method: ClassVar[str] = "projected"

    moduli: tuple[int, ...] = CHOSEN  # pairwise coprime
    sizes: tuple[int, ...] = CHOSEN  # w_j, omega in the paper

    @classmethod
    def choose(
        cls, domain: Any, epsilon: float, *, max_bits: int | None = None, moduli: Any = None, **given: Any
    ) -> Self:
        """Search for moduli whose reports have at most `max_bits` bits."""
        if max_bits is None or moduli is not None:
            return cls(domain, epsilon, moduli, **given)
        domain, bound = Domain.of(domain), _checked_bound(checked_epsilon(epsilon))
        found = search(_checked_k(domain.k), bound, whole(1, max_bits=max_bits))
        if found is None:
            raise InvalidArgument(
                "max_bits", f"be larger for k={domain.k}", max_bits, "No moduli give reports this short."
            )
        return cls(domain, epsilon, found, **given)

    @classmethod
    def cost(cls, domain: Domain, parameters: Mapping[str, Any]) -> Cost:
        del domain
        return cost_of(parameters.get("moduli"), parameters.get("sizes"))

    def _settled(self) -> Mapping[str, Any]:
        k, bound = _checked_k(self.k), _checked_bound(self.epsilon)
        moduli = search(k, bound, None) if self.moduli is None else checked_moduli(self.moduli, k)
        assert moduli is not None  # without a bound on the bits some are always found
        sizes = best_sizes(moduli, bound) if self.sizes is None else checked_sizes(self.sizes, moduli)
        return {"moduli": moduli, "sizes": sizes}

    def _parameters(self) -> dict[str, Any]:
        return {"moduli": list(self.moduli), "sizes": list(self.sizes)}

    @cached_property
    def layout(self) -> ResidueLayout:
        return ResidueLayout(self.moduli, self.sizes)

    @property
    def cohorts(self) -> int:
        """l: the number of moduli."""
        return len(self.moduli)

    def _thresholds(self, bound: Fraction, modulus: int) -> dict[str, int]:
        thresholds = {"rejection_cohort": rejection_bound(self.cohorts, modulus)}
        for j, (m, w) in enumerate(self.layout.pairs):
            truth = choice_threshold(bound, modulus, w, m)
            self.require_coin(truth * m > modulus * w)
            thresholds[f"truth_{j}"] = truth
        return thresholds

    @cached_property
    def channels(self) -> tuple[PureChannel, ...]:
        """The channel on the residues of each cohort."""
        truths = (Fraction(self.thresholds[f"truth_{j}"], MODULUS) for j in range(self.cohorts))
        # a subset holds w residues: p + (m - 1) q = w
        return tuple(PureChannel(p, (w - p) / (m - 1)) for p, (m, w) in zip(truths, self.layout.pairs, strict=True))

    @cached_property
    def rejections(self) -> Words:
        """Bounds below which draws are rejected, by cohort: 2^b mod bound, of words of b bits."""
        bounds = np.ones((self.cohorts, max(self.sizes)), np.uint64)
        for j, (m, w) in enumerate(self.layout.pairs):
            bounds[j, :w] = [m - 1, *range(m - w, m - 1)]  # as in subset selection
        largest, one = np.uint64(2**self.word_bits - 1), np.uint64(1)
        rejections: Words = (largest % bounds + one) % bounds << np.uint64(64 - self.word_bits)
        return rejections

    @property
    def stride(self) -> int:
        return 2 + max(self.sizes)  # the cohort, the coin, and draws enough for the largest subset

    def randomize_one(self, index: int, choices: Choices) -> tuple[int, ...]:
        cohort = choices.below(self.cohorts, self.thresholds["rejection_cohort"])
        m, w = self.moduli[cohort], self.sizes[cohort]
        rejections = self.rejections[cohort, :w]
        chosen = choose_subset(index % m, m, w, self.thresholds[f"truth_{cohort}"], rejections, choices)
        for _ in range(max(self.sizes) - w):
            choices.coin(0)  # a report reads all its words
        return (cohort, *words_of_marks(chosen, self.layout.slices))

    def randomize(self, indices: Indices, words: Words, out: Payloads) -> Indices:
        from deniable.kernels.residues import select_residues

        truths = np.array([self.thresholds[f"truth_{j}"] for j in range(self.cohorts)], np.uint64)
        moduli, sizes = np.array(self.moduli, np.int64), np.array(self.sizes, np.int64)
        rejection = np.uint64(self.thresholds["rejection_cohort"])
        numbers = self.stride, moduli, sizes, truths, rejection, self.rejections
        return randomized(select_residues, indices, words, *numbers, out=out)

    def _probability(self, payload: Payload, index: int) -> Fraction:
        assert isinstance(payload, tuple)
        j = int(payload[0])
        (m, w), p = self.layout.pairs[j], self.channels[j].p
        held = marks(payload[1:], index % m)
        # one of the subsets with the residue, or of those without
        chance = p / binomial(m - 1, w - 1) if held else (1 - p) / binomial(m - 1, w)
        return chance / self.cohorts

    def supported(self, data: Payloads, indices: Indices) -> Mask:
        cohorts, out = self.public_part(data), np.empty((len(data), len(indices)), np.bool_)
        for j, m in enumerate(self.moduli):
            out[cohorts == j] = marked(data[cohorts == j, 1:], indices % m)
        return out

    def public_part(self, data: Payloads) -> Indices:
        return data[:, 0].astype(np.int64)  # the cohort

    def ratio(self) -> Fraction:
        return max(self._ratios)

    @property
    def _ratios(self) -> list[Fraction]:
        """For each cohort, how much likelier a report is under a value whose residue it marks than under another."""
        # p C(m - 1, w) / ((1 - p) C(m - 1, w - 1)) = p (m - w) / ((1 - p) w)
        pairs = zip(self.channels, self.layout.pairs, strict=True)
        return [channel.p * (m - w) / ((1 - channel.p) * w) for channel, (m, w) in pairs]

    def reconstruction_rate(self) -> Fraction:
        # (1/k) sum_y max_x Pr[y | x] = (1/l) sum p_j m_j/(k w_j), since some value has each residue
        pairs = zip(self.channels, self.layout.pairs, strict=True)
        return sum((c.p * m / (self.k * w) for c, (m, w) in pairs), Fraction(0)) / self.cohorts

    def simulated_counts(self, true_counts: Counts, generator: np.random.Generator) -> Counts:
        from deniable.randomness.simulated_subsets import subset_counts

        if int(true_counts.sum()) * (1 + self.layout.slices) <= _FEW_WORDS:
            return super().simulated_counts(true_counts, generator)
        split = generator.multinomial(true_counts, np.full(self.cohorts, 1 / self.cohorts)).T
        parts = []
        for own, (m, w), channel in zip(split, self.layout.pairs, self.channels, strict=True):
            residues = np.bincount(np.arange(self.k) % m, own, m).astype(np.int64)
            share = Fraction(w, m)
            certain = generator.binomial(residues, float((channel.p - share) / (1 - share)))  # see subset_selection.py
            parts.append(subset_counts(certain, int(own.sum() - certain.sum()), w, generator))
        return np.concatenate([*parts, split.sum(axis=1)])

    @cached_property
    def _residue_channels(self) -> tuple[SubsetChannel, ...]:
        pairs = zip(self.channels, self.layout.pairs, strict=True)
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
            self.system.blocks(residues), reports.tolist(), self.layout.pairs, self.channels, strict=True
        ):
            # s_r = (C_r - n_j w/m) l / (n (p - q)) + 1/m: the total n_j w is known, so only deviations are scaled
            deviations = (counts * m - n * w) / m
            parts.append(deviations * (self.cohorts / (summary.n * float(channel.gain))) + 1 / m)
        return np.concatenate(parts)

    def unbiased(self, summary: Summary) -> Floats:
        # the variance of the residues is l/(n weight), and the system's weights are divided by the largest
        variance = self.cohorts / (summary.n * max(channel.weight for channel in self._residue_channels))
        return self.system.least_squares(self.residue_frequencies(summary), variance=variance)[0]

    def supporters(self, summary: Summary) -> Counts:
        # the reports that mark the value's residue
        residues = self.system.blocks(summary.counts[: sum(self.moduli)])
        return np.asarray(sum(own[np.arange(self.k) % len(own)] for own in residues))

    def reports_operator(self, data: Payloads) -> ResidueMarkOperator:
        return ResidueMarkOperator.of(self.k, self.moduli, tuple(map(float, self._ratios)), data)

    def noise(self, target: str) -> tuple[float, float, float]:
        """The exact variance averaged over values, or over a sample beyond 640 values; see `noise_accuracy`."""
        own, others = self._noise.average
        return for_target(others, own - others, target)

    def noise_of(self, evidence: Evidence, target: str) -> Noise:
        """Coefficients by the estimated shares of the residues: users who share many with a value add to its error."""
        return self._noise.given(self.residue_frequencies(evidence.summary), target)

    def steps_of(self, evidence: Evidence, target: str) -> Steps:
        del evidence
        return self._noise.steps(target)

    @cached_property
    def _noise(self) -> ResidueNoise:
        return ResidueNoise(self.system, self._residue_channels)

    def variances_of(self, weights: Floats) -> Floats:
        return self._noise.of_weights(weights)

    def additions(self, weights: Floats) -> tuple[float, float]:
        return self._noise.additions(weights)

    def noise_accuracy(self) -> float:
        """Relative standard error of the stated variance: zero up to 640 values, else the sampling error."""
        return self._noise.accuracy


def _checked_k(k: int) -> int:
    if k > MAX_VALUES:
        raise InvalidArgument(
            "k", f"be at most {MAX_VALUES} for mss", k, "Its reports grow with k; those of csr do not."
        )
    return k


def _checked_bound(epsilon: float) -> Fraction:
    bound = exponential_below(epsilon)
    if bound == 1:
        raise InvalidArgument("epsilon", "be larger", epsilon, "No 64-bit coin is that weak.")
    return bound

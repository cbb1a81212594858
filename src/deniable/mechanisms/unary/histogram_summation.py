"""Summation with histogram encoding: noise on every entry of a one-hot vector; the server adds the vectors.

Noise is discrete: an entry is moved by a two-sided geometric number of steps, each with probability ratio
e^(-epsilon/2), because two one-hot vectors are two steps apart. Steps beyond `reach` are put on the last one, so that
an entry has 2 reach + 2 levels, each possible for every value. With this cut-off the mechanism is exact in 64-bit
integers, and its error is smaller, not larger: with reach 0 it is symmetric unary encoding, at half the variance.

Reference: Wang, Blocki, Li, Jha 2017, section 4.3 (SHE); Ghosh, Roughgarden, Sundararajan 2009 (geometric noise).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise
from math import exp, isqrt, prod
from typing import Any, ClassVar

import numpy as np

from deniable.core.arrays import Counts, Floats, Indices, Mask, Payloads, Words
from deniable.core.domain import Domain
from deniable.core.errors import InvalidArgument
from deniable.core.limits import Cost
from deniable.core.summary import Summary
from deniable.core.validate import whole
from deniable.estimation.channel import for_target
from deniable.estimation.evidence import Evidence
from deniable.estimation.operators.marks import LevelOperator
from deniable.estimation.tails import Steps
from deniable.mechanisms.base.definition import CHOSEN
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.layouts.layout import Payload
from deniable.mechanisms.layouts.levels import MAX_LEVELS, LevelLayout
from deniable.randomness.bounds import power_below
from deniable.randomness.choices import Choices
from deniable.randomness.keystream import MODULUS

MAX_VALUES = 2**16  # a report of up to 64 kilobytes, made of half a megabyte of random words
MAX_REACH = MAX_LEVELS // 2 - 1
_TOLERANCE = 1e-5  # relative change of the variance that the default reach allows
_EXACT_RATE = 64  # values up to which the attack rate, a fraction of 64 k bits, is written out
_AT_ONCE = 2**20  # levels simulated at once
_FIXED = 128  # bits after the point of the powers of e^(-epsilon/2)


def default_reach(epsilon: float) -> int:
    """The least reach 2^b - 1, with levels of b + 1 whole bits, that nearly keeps the variance; at most 127."""
    q, reach = exp(-epsilon / 2), 1
    # the steps cut off have less than a share q^B (2 + B (1 - q)) of the variance
    while reach < MAX_REACH and q**reach * (2 + reach * (1 - q)) >= _TOLERANCE:
        reach = 2 * reach + 1
    return reach


def level_weights(bound: Fraction, modulus: int, reach: int) -> list[int]:
    """Number of words below `modulus` that give each level of a value not the sender's; the sender's is reversed.

    Levels reach - d and reach + 1 + d are a pair that reversal exchanges. A pair has the share (1 - q) q^d, the last
    one q^reach, rounded to an even number; of its s words the rarer level gets the least number l for which
    ((s - l) / l)^2 <= E. So every ratio is at most sqrt(E), however shares were rounded.
    """
    if modulus < 2 * (reach + 1):
        raise InvalidArgument("reach", f"be smaller for words below {modulus}", reach)
    one = 1 << _FIXED
    q = isqrt(int(one * one / bound))  # e^(-epsilon/2), in units of 2^-128
    beyond, power = [modulus], one  # beyond[d]: words of the pairs d, d + 1, ...
    for d in range(1, reach + 1):
        power = power * q >> _FIXED
        even = 2 * (modulus * power >> _FIXED + 1)
        beyond.append(min(beyond[-1] - 2, max(even, 2 * (reach + 1 - d))))
    weights = [0] * (2 * reach + 2)
    for d, (more, less) in enumerate(pairwise([*beyond, 0])):
        pair = more - less
        rare = max(1, pair * q // (one + q))  # from below: q is rounded down
        while (pair - rare) ** 2 > bound * rare**2:
            rare += 1
        weights[reach - d], weights[reach + 1 + d] = pair - rare, rare
    return weights


@dataclass(frozen=True)
class SummationHistogramEncoding(Mechanism):
    """Summation with histogram encoding, "she".

    The default reach is the least power of two, minus one, at which cutting the noise off changes the variance by less
    than a part in 10^5, and at most 127. A spec names it.
    Guarantee: largest ratio max (w(1 - j) / w(j))^2 <= e^epsilon over all levels j, w the integer weights.
    Cost: k random words and k ceil(log2(2 reach + 2)) bits per report, k sums per summary.

    >>> SummationHistogramEncoding(100, epsilon=1.0).report_bits
    600
    """

    name: ClassVar[str] = "she"
    version: ClassVar[int] = 1
    default_method: ClassVar[str] = "projected"

    reach: int = CHOSEN

    @classmethod
    def cost(cls, domain: Domain, parameters: Mapping[str, Any]) -> Cost:
        del parameters
        return Cost(cells=domain.k, report=60 * domain.k, nanoseconds=400 * domain.k)  # a word or more per value

    def _settled(self) -> Mapping[str, Any]:
        if self.k > MAX_VALUES:
            hint = "Its reports have k levels; those of sue have k bits."
            raise InvalidArgument("k", f"be at most {MAX_VALUES} for she", self.k, hint)
        reach = default_reach(self.epsilon) if self.reach is None else whole(0, MAX_REACH, reach=self.reach)
        return {"reach": reach}

    def _parameters(self) -> dict[str, Any]:
        return {"reach": self.reach}

    @property
    def levels(self) -> int:
        """Number of levels an entry may have."""
        return 2 * self.reach + 2

    @cached_property
    def layout(self) -> LevelLayout:
        return LevelLayout(self.k, self.levels)

    def _thresholds(self, bound: Fraction, modulus: int) -> dict[str, int]:
        weights = level_weights(bound, modulus, self.reach)
        self.require_coin(weights != weights[::-1])
        return {f"level_{c}": t for c, t in enumerate(accumulate(weights[:-1]), start=1)}

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """Number of the 2^64 words that give each level of a value that is not the sender's."""
        return tuple(b - a for a, b in pairwise([0, *self._starts, MODULUS]))

    @cached_property
    def limits(self) -> Words:
        """The last word below each level, padded to 2^bits - 1 entries with the largest word."""
        limits = np.full(2**self.layout.level_bits - 1, MODULUS - 1, np.uint64)
        limits[: len(self._starts)] = np.array(self._starts, np.uint64) - np.uint64(1)
        return limits

    @property
    def stride(self) -> int:
        return self.k  # one word per value

    def randomize_one(self, index: int, choices: Choices) -> tuple[int, ...]:
        levels = choices.levels(self.limits, self.k)
        turned = np.arange(self.k) == index  # all levels are written alike
        return tuple((levels + turned * (self.levels - 1 - 2 * levels)).tolist())

    @cached_property
    def _starts(self) -> list[int]:
        return [self.thresholds[f"level_{c}"] for c in range(1, self.levels)]

    def randomize(self, indices: Indices, words: Words, out: Payloads) -> Indices:
        from deniable.kernels.unary import draw_levels

        draw_levels(indices, words, self.limits, self.levels, out)
        return np.empty(0, np.int64)  # no word is rejected

    def _probability(self, payload: Payload, index: int) -> Fraction:
        assert isinstance(payload, tuple)
        turned = self.weights[self.levels - 1 - int(payload[index])]
        others = prod(self.weights[level] for value, level in enumerate(payload) if value != index)
        return Fraction(turned * others, MODULUS**self.k)

    @cached_property
    def _odds(self) -> tuple[Fraction, ...]:
        """For each level, how much likelier the sender's own value is to have it than another value."""
        turned = self.weights[::-1]
        return tuple(Fraction(own, other) for own, other in zip(turned, self.weights, strict=True))

    def supported(self, data: Payloads, indices: Indices) -> Mask:
        return data[:, indices] > self.reach  # the half of the levels that the sender's own value has more often

    def ratio(self) -> Fraction:
        # two values differ most where one has the level of the highest odds, and the other the reversed level
        return max(self._odds) ** 2

    def reconstruction_rate(self) -> Fraction:
        """Probability that the best guess from one report is right; beyond k = 64 rounded up, by less than 2^-100.

        The best guess is the value of the highest odds r, right with probability (1/k) E[max r], where all levels are
        drawn as for values not the sender's: with F(r) the chance that one level has odds of at most r,
            E[max r] = max r - sum over r of F(r)^k (next r - r).
        """
        # rounding down by 2^-190 is multiplied by max r <= e^25
        power = (lambda share: share**self.k) if self.k <= _EXACT_RATE else (lambda share: power_below(share, self.k))
        ranked = sorted(zip(self._odds, self.weights, strict=True))
        shares = accumulate(weight for _, weight in ranked)
        steps = zip(pairwise(odds for odds, _ in ranked), shares, strict=False)
        below = sum(((after - odds) * power(Fraction(share, MODULUS)) for (odds, after), share in steps), Fraction(0))
        return (ranked[-1][0] - below) / self.k

    @cached_property
    def mean(self) -> Fraction:
        """The mean level of a value that is not the sender's; the sender's value has the mean levels - 1 - mean."""
        return Fraction(sum(level * weight for level, weight in enumerate(self.weights)), MODULUS)

    @property
    def gain(self) -> Fraction:
        """Mean level of the sender's value minus that of another: one, were the noise not cut off."""
        return self.levels - 1 - 2 * self.mean

    @cached_property
    def level_variance(self) -> Fraction:
        """The variance of a level, the same for every value, since reversal keeps it."""
        squares = sum(level**2 * weight for level, weight in enumerate(self.weights))
        return Fraction(squares, MODULUS) - self.mean**2

    def unbiased(self, summary: Summary) -> Floats:
        # (sum/n - mean)/gain; the middle level is subtracted in whole numbers, so that large sums do not cancel
        middle = summary.n * self.reach
        counts = summary.counts if middle < 2**63 else summary.counts.astype(object)
        centred = ((counts - middle) / summary.n).astype(np.float64)
        return np.asarray((centred - float(self.mean - self.reach)) / float(self.gain))

    def noise(self, target: str) -> tuple[float, float, float]:
        """n Var = level_variance / gain^2 for these users, whatever f; f(1-f) more for the population."""
        return for_target(float(self.level_variance / self.gain**2), 0.0, target)

    def steps_of(self, evidence: Evidence, target: str) -> Steps:
        # steps of many sizes: the size whose fourth moment, at the same variance, is that of the steps upwards, of
        # users without the value; those downwards of users with it are the same, by reversal
        del evidence, target
        chances = np.array([float(Fraction(weight, MODULUS)) for weight in self.weights])
        up = np.maximum(np.arange(self.levels) - float(self.mean), 0.0) / float(self.gain)
        step = float(np.sqrt((chances @ up**4) / (chances @ up**2)))
        return Steps(step, step)

    def variances_of(self, weights: Floats) -> Floats:
        # levels are independent, with one variance for all users
        return np.full(self.k, float(self.level_variance / self.gain**2) * float(weights @ weights))

    def additions(self, weights: Floats) -> tuple[float, float]:
        # (level - mean)/gain, and every row of levels is a possible report
        below, above = (float(end / self.gain) for end in (-self.mean, self.levels - 1 - self.mean))
        low, high = float(np.minimum(weights, 0).sum()), float(np.maximum(weights, 0).sum())
        return below * high + above * low, above * high + below * low

    @property
    def influence(self) -> tuple[float, float]:
        return self.additions(np.ones(1))

    def reports_operator(self, data: Payloads) -> LevelOperator:
        return LevelOperator(data, np.array([float(odds) for odds in self._odds]))

    def simulated_counts(self, true_counts: Counts, generator: np.random.Generator) -> Counts:
        # levels are independent given the value, and so are the sums
        n = int(true_counts.sum())
        chances = np.array([float(Fraction(weight, MODULUS)) for weight in self.weights])
        order = np.argsort(chances)  # the likeliest last, so that small chances keep their precision
        sums = np.empty(self.k, np.int64)
        batch = max(1, _AT_ONCE // self.levels)
        for first in range(0, self.k, batch):
            own = true_counts[first : first + batch]
            turned = generator.multinomial(own, chances[order]) @ (self.levels - 1 - order)
            sums[first : first + batch] = turned + generator.multinomial(n - own, chances[order]) @ order
        return sums

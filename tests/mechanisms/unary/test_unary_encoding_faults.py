"""Faults planted in unary encoding on purpose: each must be caught by the check named beside it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

import deniable as dn
from deniable.estimation.channel import PureChannel
from deniable.mechanisms.unary.unary_encoding import COIN_BITS
from deniable.randomness.bounds import exponential_below
from tests.contract import checks as contract
from tests.contract import faults
from tests.naive import unary as naive_bits

SEED = 5
BITS = 2


class _Fault(dn.OptimizedUnaryEncoding):
    """Optimised unary encoding whose batch kernel is written out, so that a line of it can be wrong."""

    def randomize(self, indices: Any, words: Any, out: Any) -> Any:
        t = self.thresholds
        sets = naive_bits.toss_bits(indices.tolist(), words.tolist(), t["other"], t["own"], COIN_BITS, self.k)
        self.write(out, [sum(1 << value for value in marked) for marked in sets])
        return np.empty(0, np.int64)

    def write(self, out: Any, reports: list[int]) -> None:
        for i, report in enumerate(reports):
            out[i] = self.layout.words(report)


@dataclass(frozen=True)
class ValueBitLikeTheOthers(_Fault):
    """Forgets the value's own coin."""

    def randomize(self, indices: Any, words: Any, out: Any) -> Any:
        rows = words.reshape(len(indices), self.stride)
        tossed = [
            naive_bits.coins(row, self.thresholds["other"], self.layout.slices, COIN_BITS) for row in rows.tolist()
        ]
        self.write(out, [sum(1 << v for v in range(self.k) if coins[v]) for coins in tossed])
        return np.empty(0, np.int64)


@dataclass(frozen=True)
class ValueAndOthersExchanged(_Fault):
    """Tosses the value's bit with the coin of the others, and theirs with its."""

    def randomize(self, indices: Any, words: Any, out: Any) -> Any:
        t = self.thresholds
        sets = naive_bits.toss_bits(indices.tolist(), words.tolist(), t["own"], t["other"], COIN_BITS, self.k)
        self.write(out, [sum(1 << value for value in marked) for marked in sets])
        return np.empty(0, np.int64)


@dataclass(frozen=True)
class OneCoinForTwoBits(_Fault):
    """Values 0 and 1 share a coin: every single bit is right, the two together are not."""

    def randomize(self, indices: Any, words: Any, out: Any) -> Any:
        rows = words.reshape(-1, self.stride).copy()
        rows[:, :-1] = rows[:, :-1] & ~np.uint64(2) | (rows[:, :-1] & np.uint64(1)) << np.uint64(1)
        return super().randomize(indices, rows.reshape(-1), out)


@dataclass(frozen=True)
class AtMostInsteadOfBelow(_Fault):
    """U <= t: one step more."""

    def randomize(self, indices: Any, words: Any, out: Any) -> Any:
        unit = 2 ** (64 - self.word_bits)
        t = self.thresholds
        sets = naive_bits.toss_bits(indices.tolist(), words.tolist(), t["other"] + unit, t["own"], COIN_BITS, self.k)
        self.write(out, [sum(1 << value for value in marked) for marked in sets])
        return np.empty(0, np.int64)


@dataclass(frozen=True)
class MostSignificantFirst(_Fault):
    """Takes the bits of the coins in the wrong order."""

    def randomize(self, indices: Any, words: Any, out: Any) -> Any:
        rows = words.reshape(-1, self.stride).copy()
        rows[:, :-1] = rows[:, -2::-1]
        return super().randomize(indices, rows.reshape(-1), out)


@dataclass(frozen=True)
class WordsDependOnCoin(_Fault):
    """Tosses the value's coin only if its bit is not set already."""

    def randomize_one(self, index: int, choices: Any) -> tuple[int, ...]:
        tossed = choices.coins(self.thresholds["other"], self.layout.slices, COIN_BITS)
        others = int.from_bytes(tossed.tobytes(), "little")
        if others >> index & 1 == 0:
            others |= choices.coin(self.thresholds["own"]) << index
        return self.layout.words(others & (2**self.k - 1))


@dataclass(frozen=True)
class ThresholdRoundedDown(_Fault):
    """One step less noise than epsilon allows."""

    def _coins(self, bound: Fraction, modulus: int) -> tuple[int, int]:
        own, other = super()._coins(bound, modulus)
        return own, other - 1


@dataclass(frozen=True)
class RootRoundedUp(dn.SymmetricUnaryEncoding):
    """A square root of e^epsilon that is too large by one part in 2^20."""

    def _coins(self, bound: Fraction, modulus: int) -> tuple[int, int]:
        return super()._coins(bound * (1 + Fraction(1, 2**19)), modulus)


@dataclass(frozen=True)
class GuaranteeOfOneBit(_Fault):
    """Forgets that two bits differ between two values."""

    def ratio(self) -> Fraction:
        return self.channel.p / self.channel.q


def ideal(m: dn.OptimizedUnaryEncoding) -> PureChannel:
    return PureChannel(Fraction(1, 2), 1 / (exponential_below(m.epsilon) + 1))


def _count_up_to_63(self: Any, data: Any, counts: Any) -> None:
    more = np.zeros_like(counts)
    type(self).__base__.count(self, data, more)
    counts += more % 64


LostCarry = faults.with_layout(_Fault, "LostCarry", count=_count_up_to_63)


@dataclass(frozen=True)
class SimulatesOthersOnly(_Fault):
    """Lets all n users, not only the others, set a bit by chance."""

    def simulated_counts(self, true_counts: Any, generator: Any) -> Any:
        more = generator.binomial(true_counts, float(self.channel.q))
        return super().simulated_counts(true_counts, generator) + more


@dataclass(frozen=True)
class EmptyReportsTellNothing(_Fault):
    """Counts no success when no bit is set, though a guess may still be right."""

    def reconstruction_rate(self) -> Fraction:
        p, q = self.channel.p, self.channel.q
        return p * (1 - (1 - q) ** self.k) / (q * self.k)


def _cut_off_stray_bits(self: Any, data: bytes) -> tuple[int, ...]:
    return self.words(int.from_bytes(data, "little") & (2**self.values - 1))


DecodesStrayBits = faults.with_layout(_Fault, "DecodesStrayBits", unpack=_cut_off_stray_bits)


StrayBits = faults.stray_bits(_Fault, "k")
NeighboursCoin = faults.neighbours_word(_Fault, "NeighboursCoin")
WordsDependOnValue = faults.words_depend_on_value(_Fault)
IdealProbabilities = faults.ideal_probabilities(_Fault, ideal, "IdealProbabilities")
IdealEstimator = faults.ideal_estimator(_Fault, ideal)

kernel, plain_path, batch = faults.kernel(BITS), faults.plain_path(BITS), faults.batch(SEED)

FAULTS: list[tuple[type[Any], faults.Check]] = [
    (ValueBitLikeTheOthers, kernel),
    (ValueAndOthersExchanged, kernel),
    (OneCoinForTwoBits, kernel),
    (AtMostInsteadOfBelow, kernel),
    (MostSignificantFirst, kernel),
    (MostSignificantFirst, batch),
    (StrayBits, kernel),
    (NeighboursCoin, batch),
    (WordsDependOnValue, plain_path),
    (WordsDependOnCoin, plain_path),
    (ThresholdRoundedDown, contract.check_largest_ratio_is_within_epsilon),
    (RootRoundedUp, contract.check_largest_ratio_is_within_epsilon),
    (GuaranteeOfOneBit, contract.check_largest_ratio_is_within_epsilon),
    (IdealProbabilities, kernel),
    (IdealEstimator, faults.coarse_unbiased(8)),
    (LostCarry, faults.counts(SEED)),
    (SimulatesOthersOnly, faults.simulation(SEED)),
    (EmptyReportsTellNothing, contract.check_reconstruction_rate),
    (DecodesStrayBits, faults.decoding(b"\xff")),
]


@faults.planted(FAULTS)
def test_a_planted_fault_is_caught(fault: type[Any], check: faults.Check) -> None:
    check(dn.SymmetricUnaryEncoding(3, 3.0))
    faults.assert_caught(check, dn.OptimizedUnaryEncoding(3, 3.0), fault(3, 3.0))


def test_the_written_out_kernel_itself_is_sound() -> None:
    kernel(_Fault(3, 3.0))
    batch(_Fault(3, 3.0))

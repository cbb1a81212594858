"""Planted faults of noisy counts, each of which a check must catch."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import deniable as dn
from deniable.counts.operator.function import Function
from deniable.counts.operator.terms import terms_at
from deniable.randomness.bounds import digits_below
from deniable.randomness.discrete_laplace import WORD_BITS, Coin, Sampler, ratio_of_neighbours
from tests.naive import noise as naive

Q = ratio_of_neighbours(1.0, 1)


def check_coins_make_the_distribution(source: Sampler) -> None:
    """Pr[Z = z] from the coins, as exact fractions, is (1 - q)/(1 + q) q^|z|."""
    chances = [coin.q**coin.power for coin in source.coins]
    *digits, sign, tail = (p / (1 + p) if c.odds else p for c, p in zip(source.coins, chances, strict=True))
    for z in range(-30, 31):
        number = z if z >= 0 else -1 - z
        chance = (sign if z < 0 else 1 - sign) * tail ** (number >> len(digits)) * (1 - tail)
        for place, p in enumerate(digits):
            chance *= p if number >> place & 1 else 1 - p
        assert chance == (1 - source.q) / (1 + source.q) * source.q ** abs(z)


def check_a_coin_has_all_digits(coin: Coin, bits: int = 8) -> None:
    """After the first bits tie, the share of overflow words that make it true is the next 64 digits."""
    first = digits_below(coin.q, coin.power, coin.odds, bits)
    border = digits_below(coin.q, coin.power, coin.odds, bits + WORD_BITS) - (first << WORD_BITS)
    assert coin.decide(first - 1, bits, iter([])) if first else True
    assert not coin.decide(first + 1, bits, iter([]))
    assert coin.decide(first, bits, iter([border - 1])) if border else True
    assert not coin.decide(first, bits, iter([border + 1]))


def check_unbiased(noise: dn.DiscreteLaplace, f: object = lambda x: x**2) -> None:
    """E[(L f)(x + Z)] = f(x) with the noise that runs, whatever number the operator takes for it."""
    steps, chance = naive.window(Q)
    for x in (0, 4):
        terms = terms_at(Function.of(f), noise, x + steps)
        assert math.fsum(chance * terms.value) == pytest.approx(x**2, abs=1e-10)
        true = math.fsum(chance * (terms.value - x**2) ** 2)
        assert math.fsum(chance * terms.variance) == pytest.approx(true, rel=1e-10)


def check_support_has_no_end(source: Sampler) -> None:
    """With the tail's coin true three times in a row, a number of at least 3 * 2^K comes out."""
    halves = [int(t) + 1 for t in source.thresholds()]
    halves[-1] = 0
    words = [low | high << 32 for low, high in zip(halves[0::2], halves[1::2], strict=True)]
    assert source.draw_one(words, iter([0] * 5 + [2**64 - 1] * 2)) >= 3 * 2**source.size


def changed(source: Sampler, place: int, **fields: object) -> Sampler:
    made = Sampler(source.q)
    coins = list(made.coins)
    coins[place] = replace(coins[place], **fields)  # type: ignore[arg-type]
    object.__setattr__(made, "coins", tuple(coins))
    return made


class Truncated(Sampler):
    def draw_one(self, words: object, overflow: Iterator[int], bits: int = 32) -> int:
        drawn = super().draw_one(words, overflow, bits)  # type: ignore[arg-type]
        return max(-(2**self.size), min(drawn, 2**self.size - 1))  # a table that ends


class Rounded(Coin):
    def decide(self, drawn: int, bits: int, overflow: Iterator[int]) -> bool:  # noqa: ARG002  (a tie is simply false)
        return drawn < self.digits(bits)


class Reused(Coin):
    def decide(self, drawn: int, bits: int, overflow: Iterator[int]) -> bool:
        while drawn == self.digits(bits):
            drawn = next(overflow) >> (WORD_BITS - bits)  # starts again instead of going on
        return drawn < self.digits(bits)


class WrongNumber(dn.DiscreteLaplace):
    factor = Fraction(1)

    @property
    def a(self) -> Fraction:
        return super().a * self.factor


class HalfVariance(WrongNumber):
    factor = Fraction(2)  # takes a for the variance of the noise


class IdealRatio(WrongNumber):
    factor = Fraction(1_000_001, 1_000_000)  # another q than the one that runs


def test_the_faultless_pass_every_check() -> None:
    check_coins_make_the_distribution(Sampler(Fraction(3, 4)))
    for coin in Sampler(Q).coins:
        check_a_coin_has_all_digits(coin)
    check_unbiased(dn.DiscreteLaplace(1.0))
    check_support_has_no_end(Sampler(Q))


SMALL = Sampler(Fraction(3, 4))
FAULTS = {
    "a fair sign": lambda: check_coins_make_the_distribution(changed(SMALL, -2, q=Fraction(1))),
    "a digit of the wrong power": lambda: check_coins_make_the_distribution(changed(SMALL, 2, power=3)),
    "a digit without its odds": lambda: check_coins_make_the_distribution(changed(SMALL, 0, odds=False)),
    "a tail of the wrong power": lambda: check_coins_make_the_distribution(changed(SMALL, -1, power=1)),
    "a tie that is dropped": lambda: check_a_coin_has_all_digits(Rounded(Q, 1, True)),
    "a tie that starts again": lambda: check_a_coin_has_all_digits(Reused(Q, 1, True)),
    "a table that ends": lambda: check_support_has_no_end(Truncated(Q)),
    "half the variance": lambda: check_unbiased(HalfVariance(1.0)),
    "another ratio than the one that runs": lambda: check_unbiased(IdealRatio(1.0)),
    "the sensitivity forgotten": lambda: check_unbiased(dn.DiscreteLaplace(1.0, 2)),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_caught(fault: str) -> None:
    with pytest.raises(AssertionError):
        FAULTS[fault]()


def test_noise_is_not_reused_between_counts() -> None:
    drawn = dn.DiscreteLaplace(0.01).release(np.zeros(40_000, np.int64), seed=3).values
    first, second = drawn[: len(drawn) // 2], drawn[len(drawn) // 2 :]
    assert abs(np.corrcoef(first, second)[0, 1]) < 6 / math.sqrt(len(first))
    assert abs(np.corrcoef(drawn[:-1], drawn[1:])[0, 1]) < 6 / math.sqrt(len(drawn))

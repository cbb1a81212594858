"""The privacy blanket of shuffled reports, evaluated from above.

    delta(eps) <= E[(X_1 + ... + X_n)_+] / n,    X = (R(x)(y) - E R(x')(y)) / low(y) with probability low(y), else 0

Reference: Balle, Bell, Gascon, Nissim 2019, Theorem 5.2 and Lemma 5.3; Su, Cheng, Wang 2025 (arXiv 2504.07414: no other
way to divide the channel gives less).

The law of the sum is computed on a grid, by doubling: from the sum of m terms follows that of 2m, on a coarser grid.
Each step errs upwards, or its error is added:

- Mass between two points of a grid is divided among them so that the mean stays. That only adds spread, and the mean of
  a convex function of the sum grows.
- The law is tilted, that is multiplied by e^(theta s), so that the sum of interest is no longer in a far tail: with S
  tilted and M the moment generating function, E[S_+] = M^n E[S_+ e^(-theta S)].
- Mass that leaves the grid, and all rounding, is added up; since S_+ e^(-theta S) <= 1/(theta e), a mass of v that is
  wrong in the tilted law adds at most M^n v/(theta e).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deniable.auditing.amplification.pair_laws import PairLaw
from deniable.core.arrays import Floats

FINE, COARSE = 2**13, 2**12  # half the points of the grid: to certify, and to search
_WIDTH, _JUMPS = 10.0, 8  # half the grid: standard deviations of the tilted sum, and as many of its largest terms
_ROUNDING = 2.0**-46  # of a product of transforms, in the Euclidean norm: 128 units in the last place
_STEPS = 200


@dataclass(frozen=True, eq=False)
class _Sum:
    """The tilted law of a sum on the points -K step, ..., K step, and the logarithm of its total before scaling."""

    law: Floats
    step: float
    log_total: float


def blanket_delta(law: PairLaw, n: int, epsilon: float, half: int = FINE) -> float:
    """An upper bound on delta at this epsilon after n reports have been shuffled."""
    bound = math.exp(epsilon)
    steps = law.first - bound * law.second
    largest = float(steps.max())
    if largest <= 0:
        return 0.0
    rest = max(0.0, 1 - float(law.chance.sum()))
    values, chances = np.append(steps, 0.0), np.append(law.chance, rest)
    return min(1.0, _mean_of_positive(values, chances, n, half) / n)


def _mean_of_positive(values: Floats, chances: Floats, n: int, half: int) -> float:
    size = float(np.abs(values).max())
    theta = _tilt(values, chances)
    deviation = _deviation(values, chances, theta)
    rounding = n * size * 2.0**-49  # of the values themselves
    if theta * _reach(deviation, size, n) > half:  # the tilt is steep from one point to the next, and delta tiny
        log_moment = math.log1p(float((chances * np.expm1(theta * values)).sum()))
        return math.exp(n * log_moment * (1 - 2.0**-40)) / (theta * math.e) + rounding

    found = _on_grid(values, _tilted(values, chances, theta), theta, size / half, half)
    current, wrong = _Sum(found[0], size / half, 0.0), n * (found[1] + half * 2.0**-52)
    current = _scaled(current)
    terms = 1
    for bit in bin(n)[3:]:
        terms = 2 * terms + int(bit)
        extra = (values, _tilted(values, chances, theta)) if bit == "1" else None
        current, missed = _doubled(current, extra, theta, _reach(deviation, size, terms) / half, half)
        wrong += n / terms * missed

    points = current.step * np.arange(1, half + 1)
    positive = np.maximum(current.law[half + 1 :], 0.0)
    inside = float((positive * points * np.exp(-theta * points)).sum())
    total = math.exp(min(0.0, current.log_total))  # M^n <= 1: M is below its value 1 at theta = 0
    return total * (inside + wrong / (theta * math.e)) * (1 + n * 2.0**-50) + rounding


def _reach(deviation: float, size: float, terms: int) -> float:
    """How far the grid reaches: no further than the sum itself, and far enough for rare, large terms."""
    return min(terms * size, _WIDTH * deviation * math.sqrt(terms) + _JUMPS * size)


def _tilted(values: Floats, chances: Floats, theta: float) -> Floats:
    return np.asarray(chances * np.exp(theta * values))


def _tilt(values: Floats, chances: Floats) -> float:
    """The theta at which the tilted mean is 0; it is unique, since the plain mean is 1 - E < 0."""

    def mean(theta: float) -> float:
        return float((chances * values * np.exp(theta * (values - values.max()))).sum())

    low, high = 0.0, 1.0 / float(np.abs(values).max())
    while mean(high) < 0:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if mean(middle) < 0 else (low, middle)
    return high


def _deviation(values: Floats, chances: Floats, theta: float) -> float:
    weights = chances * np.exp(theta * (values - values.max()))
    return math.sqrt(float((weights * values**2).sum() / weights.sum()))


def _on_grid(places: Floats, masses: Floats, theta: float, step: float, half: int) -> tuple[Floats, float]:
    """Divide masses of the tilted law among the points next to them; return also the mass beyond the grid."""
    at = places / step
    inside = np.abs(at) <= half
    lost = float(np.abs(masses[~inside]).sum())
    at, masses = at[inside], masses[inside]
    below = np.minimum(np.floor(at), half - 1)
    up = at - below
    # the mean stays that of the law without the tilt: a mass p at s has the weight p e^(-theta s) there
    tilt = theta * step
    under = masses * (1 - up) * np.exp(-tilt * up)
    over = masses * up * np.exp(tilt * (1 - up))
    index = below.astype(np.int64) + half
    size = 2 * half + 1
    return np.asarray(np.bincount(index, under, size) + np.bincount(index + 1, over, size), np.float64), lost


def _scaled(found: _Sum) -> _Sum:
    total = float(found.law.sum())
    return _Sum(found.law / total, found.step, found.log_total + math.log(total))


def _doubled(
    found: _Sum, extra: tuple[Floats, Floats] | None, theta: float, step: float, half: int
) -> tuple[_Sum, float]:
    """The law of the sum of two such sums, and of one more term; return also the mass that may be wrong."""
    reach, log_total, single = 2 * half, 2 * found.log_total, None
    if extra is not None:
        values, masses = extra
        own = max(1, math.ceil(float(np.abs(values).max()) / found.step))
        single = _on_grid(values, masses, theta, found.step, own)[0]
        total = float(single.sum())
        single = single / total
        log_total += math.log(total)
        reach += own
    length = 1 << (2 * reach).bit_length()
    spectrum = np.fft.rfft(found.law, length) ** 2
    if single is not None:
        spectrum *= np.fft.rfft(single, length)
    law = np.fft.irfft(spectrum, length)[: 2 * reach + 1].astype(np.float64, copy=False)
    # spectra are at most 1, so the error's Euclidean norm is a few roundings of the law's; its sum is at most as here
    wrong = _ROUNDING * math.sqrt(length * float((found.law**2).sum()))
    places = np.asarray(found.step * np.arange(-reach, reach + 1), np.float64)
    onto, lost = _on_grid(places, law, theta, max(step, found.step), half)
    return _scaled(_Sum(onto, max(step, found.step), log_total)), wrong + lost


def least_epsilon(laws: tuple[PairLaw, ...], n: int, delta: float, most: float) -> float | None:
    """The least epsilon that the bound certifies for delta, up to a part in a thousand; None if that is `most`."""

    def worst(epsilon: float, half: int) -> float:
        return max(blanket_delta(law, n, epsilon, half) for law in laws)

    rough = falling_root(lambda epsilon: worst(epsilon, COARSE), delta, 0.0, most, 2e-3)
    if rough is None:
        return None
    exact = falling_root(lambda epsilon: worst(epsilon, FINE), delta, 0.98 * rough, min(1.002 * rough, most), 3e-4)
    return rough if exact is None else exact


def falling_root(
    function: Callable[[float], float], level: float, low: float, high: float, precision: float
) -> float | None:
    """The least point, up to a relative precision, at which a falling function was seen to be at most `level`."""
    if function(high) > level or high <= 0:
        return None
    if low > 0 and function(low) <= level:
        low = 0.0
    for _ in range(_STEPS):
        if high - low <= precision * high:
            break
        # from 0 on by powers, since the answer may be far smaller than where the search starts
        middle = high / 4 if low == 0.0 else math.sqrt(low * high)
        low, high = (middle, high) if function(middle) > level else (low, middle)
    return high

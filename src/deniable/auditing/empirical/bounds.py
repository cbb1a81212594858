"""The bound of the guessing game: from right guesses to a lower bound on epsilon.

The game: s values are fixed beforehand, x is uniform among them, the code makes one report, and a rule guesses one of
the values or abstains. If every report is at most e^epsilon times as likely under one value as under another, then
Pr[x = v | report] <= e^epsilon / (e^epsilon + s - 1) for every report and v. So, given the guesses, the number of
right ones is stochastically below Bin(guesses, e^epsilon / (e^epsilon + s - 1)), and with p the lower confidence limit
of Clopper and Pearson at alpha, one-sided,

    epsilon >= log(p (s - 1) / (1 - p))        except with probability alpha, whatever the code does

Reference: Clopper and Pearson 1934; Kairouz, Oh, Viswanath 2015, section 2 (privacy as a bound on tests).
"""

from __future__ import annotations

import math

import numpy as np

from deniable.core.arrays import Floats, Numbers


def lower_limits(right: Numbers, guesses: Numbers, alpha: float) -> Floats:
    """The lower confidence limits of probabilities, each from so many right guesses."""
    from scipy.special import betaincinv

    return np.where(right > 0, betaincinv(np.maximum(right, 1e-9), guesses - right + 1, alpha), 0.0)


def lower_limit(right: int, guesses: int, alpha: float) -> float:
    """The lower confidence limit of a probability, from `right` of so many guesses."""
    return float(lower_limits(np.array(right), np.array(guesses), alpha))


def epsilon_above(right: int, guesses: int, size: int, alpha: float) -> float:
    """The lower bound on epsilon; 0 where the guesses show nothing."""
    low = lower_limit(right, guesses, alpha)
    return max(0.0, math.log(low * (size - 1) / (1 - low))) if low > 0 else 0.0


def right_share(epsilon: float, size: int) -> float:
    """How often a guess among `size` values is right at most: e/(e + s - 1)."""
    return 1 / (1 + (size - 1) * math.exp(-epsilon))


def expected_bound(epsilon: float, trials: int, guessed: float, size: int, alpha: float) -> float:
    """About the bound to expect of a mechanism that spends epsilon: epsilon - z / sqrt(n I)."""
    from scipy.special import ndtri

    told = trials * information(epsilon, guessed, size)
    return max(0.0, epsilon + float(ndtri(alpha)) / math.sqrt(told)) if told > 0 else 0.0


def information(epsilon: float, guessed: float, size: int) -> float:
    """What one report tells of epsilon, G e (s - 1)/(e + s - 1)^2, where a share G of reports has a guess."""
    share = right_share(epsilon, size)
    wrong = (size - 1) * math.exp(-epsilon) * share  # 1 - share would lose its digits
    return guessed * share * wrong


def too_few(right: int, guesses: int, epsilon: float, size: int) -> float:
    """How likely a mechanism that spends epsilon has so few right guesses: the exact lower tail."""
    from scipy.stats import binom

    return float(binom.cdf(right, guesses, right_share(epsilon, size)))

"""Loops over a histogram: select, project, share out, and the passes of two iterative methods.

`whole` and `rest` are the integer and the fractional part of n q, subtracted from each count separately, so that
nothing cancels. The gain d = a - q of a value solves mu d^2 - b d + c = 0 with
    b = 1 + mu (1 - 2q),   c = T/n - q - mu q(1-q),   root = sqrt(b^2 - 4 mu c),
    d = 2 c / (b + root)   or, for negative b,   (b - root) / (2 mu),
and is zero unless c > 0.
"""

from __future__ import annotations

import math
from typing import Any

from deniable.core.arrays import Counts, Floats
from deniable.kernels import compiled, part


@compiled()
def total_at_least(counts: Counts, threshold: int) -> tuple[int, int]:
    """Return the number of counts that reach the threshold, and their sum."""
    size = 0
    total = 0
    for i in range(counts.shape[0]):
        keep = counts[i] >= threshold
        size += keep
        total += counts[i] * keep
    return size, total


@compiled()
def keep_at_least(counts: Counts, threshold: int, kept: Counts) -> tuple[int, int]:
    """Copy the counts that reach the threshold to the front of `kept`.

    `kept` is `counts` itself, or has room for one more than will be kept: the loop has no branch, so it
    writes every count and advances only if the count is kept.
    """
    size = 0
    total = 0
    for i in range(counts.shape[0]):
        count = counts[i]
        kept[size] = count
        keep = count >= threshold
        size += keep
        total += count * keep
    return size, total


@compiled()
def share_out(
    counts: Counts,
    threshold: int,
    centre: int,
    size: float,
    rest: float,
    slope: float,
    share: float,
    offset: float,
    out: Floats,
) -> None:
    """out = ((count - centre) size - rest) slope + count share + offset where count reaches the threshold, else 0."""
    for i in range(counts.shape[0]):
        count = counts[i]
        value = (float(count - centre) * size - rest) * slope + float(count) * share + offset
        out[i] = max(value, 0.0) if count >= threshold else 0.0


@compiled()
def keep_above(numbers: Floats, threshold: float, kept: Floats) -> tuple[int, float]:
    """Copy the numbers above the threshold to the front of `kept`; return how many there are, and their sum.

    `kept` is `numbers` itself, or has the same size. The loop has no branch: it writes every number and
    advances only if the number is kept.
    """
    size = 0
    total = 0.0
    for i in range(numbers.shape[0]):
        number = numbers[i]
        kept[size] = number
        keep = number > threshold
        size += keep
        total += number if keep else 0.0
    return size, total


@compiled()
def lower(numbers: Floats, by: float, out: Floats) -> None:
    """out = number - by, never below zero."""
    for i in range(numbers.shape[0]):
        out[i] = max(numbers[i] - by, 0.0)


@part
def _gain(count: Any, n: Any, whole: Any, rest: float, q: float, mu: float) -> tuple[float, float]:
    """d and the root, for one count."""
    c = (float(count - whole) - rest) / n - mu * q * (1 - q)
    # b^2 - 4 mu c = (1 - mu)^2 + 4 mu (1 - T/n) = (1 + mu)^2 - 4 mu T/n, whichever adds
    if mu > 0:
        root = math.sqrt((1 - mu) ** 2 + 4 * mu * (float(n - count) / n))
    else:
        root = math.sqrt((1 + mu) ** 2 - 4 * mu * (float(count) / n))
    b = 1 + mu * (1 - 2 * q)
    if c <= 0:
        return 0.0, root
    return (2 * c / (b + root) if b >= 0 else (b - root) / (2 * mu)), root


@compiled()
def total_gain(counts: Counts, n: Any, whole: Any, rest: float, q: float, mu: float) -> tuple[float, float, int]:
    """The sum of d, its derivative by mu, and the number of positive d. The sum is compensated (Kahan)."""
    total = 0.0
    lost = 0.0
    slope = 0.0
    size = 0
    for i in range(counts.shape[0]):
        d, root = _gain(counts[i], n, whole, rest, q, mu)
        if d > 0:
            more = d - lost
            larger = total + more
            lost = (larger - total) - more
            total = larger
            slope -= (q + d) * (1 - q - d) / root
            size += 1
    return total, slope, size


@compiled()
def gains(counts: Counts, n: Any, whole: Any, rest: float, q: float, mu: float, out: Floats) -> None:
    """out = d."""
    for i in range(counts.shape[0]):
        out[i], _ = _gain(counts[i], n, whole, rest, q, mu)


@compiled()
def largest_violation(
    counts: Counts, n: Any, whole: Any, rest: float, q: float, gain: float, mu: float, theta: Floats
) -> float:
    """The largest distance of the slope T/(n a) - (1 - T/n)/(1 - a) from mu; only above mu counts where theta = 0."""
    worst = 0.0
    for i in range(counts.shape[0]):
        d = gain * theta[i]
        a = q + d
        # the slope is (T/n - a) / (a (1 - a))
        apart = ((float(counts[i] - whole) - rest) / n - d) / (a * (1 - a)) - mu
        worst = max(worst, abs(apart) if theta[i] > 0 else apart)
    return worst


SMALLEST = 8  # integers in the smallest block; block b has 2^b times as many
_SHARE = 8.0  # a block is at most its distance from either end, divided by this


@compiled
def posterior_means(
    estimates: Floats,
    largest: float,
    alpha: float,
    variance: float,
    reach: float,
    longest: float,
    nodes: Floats,
    weights: Floats,
    out: Floats,
) -> None:
    """out = E[c | x] for each x in `estimates`: c has prior c^-alpha on 1..largest, and x is N(c, variance).

    Only integers within `reach` of x (clipped to 1..largest) count. They are summed one by one, or in
    blocks of SMALLEST 2^b integers by the nodes and weights of row b, where a block is no longer than
    `longest` and an eighth of its distance from either end. Sums are kept relative to the largest term.
    """
    for i in range(estimates.shape[0]):
        x = estimates[i]
        near = min(max(x, 1.0), largest)
        c = max(1.0, math.floor(near - reach))
        last = min(largest, math.ceil(near + reach))
        peak = -math.inf
        mass = 0.0
        moment = 0.0
        while c <= last:
            length = min(longest, min(c, largest + 1.0 - c) / _SHARE)
            block = int(math.log2(length / SMALLEST)) if length >= SMALLEST else -1
            terms = nodes.shape[1] if block >= 0 else 1
            for j in range(terms):
                node = c + nodes[block, j] if block >= 0 else c
                weight = weights[block, j] if block >= 0 else 1.0
                # log of the term, up to a common constant: -alpha ln c - [(x - c)^2 - (x - near)^2] / (2 variance)
                log_term = -alpha * math.log(node) - (near - node) * (2.0 * x - near - node) / (2.0 * variance)
                if log_term > peak:
                    fall = math.exp(peak - log_term)
                    mass *= fall
                    moment *= fall
                    peak = log_term
                term = weight * math.exp(log_term - peak)
                mass += term
                moment += term * node
            c += SMALLEST * 2.0**block if block >= 0 else 1.0
        out[i] = moment / mass

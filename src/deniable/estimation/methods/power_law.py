"""Frequencies under a power-law prior on counts: few frequent values, many rare ones.

The prior gives a count c in 1..n the weight c^-alpha, with alpha such that the prior mean is the mean of the
estimated counts. An estimated count x is the true one plus Gaussian noise of variance n v0, and the estimate is
the posterior mean
    E[c | x] = sum_c c^(1-alpha) e(c) / sum_c c^-alpha e(c),   e(c) = exp(-(x - c)^2 / (2 n v0)).

The sums run over all integers up to n = 4096. Beyond, consecutive integers are summed in blocks, each by
Gauss's rule for sums: 8 nodes that are exact for polynomials up to degree 15. A block is no longer than
one standard deviation of the noise and an eighth of its distance from 1 and from n, so the terms are smooth
in it. Integers far out that add less than e^-40 of the sum are left out. The relative difference from the
plain sum is below 1e-11, which is the rounding of the plain sum (tested up to n = 3e6).

Reference: Jia and Gong 2019 (the prior); Wang et al. 2020 (Power, PowerNS).
"""

from __future__ import annotations

import math

import numpy as np

from deniable.core.arrays import Floats

Rules = tuple[Floats, Floats]

PLAIN = 4096  # up to this n the sum is over every integer
FINEST = 2**50  # more reports are counted in units of n/2^50, which floats can tell apart
STEEPEST = 64.0  # largest alpha: a count of 2 is then 2^64 times rarer than a count of 1
FALLBACK = 1.01  # alpha if the mean count is below 1, which no power law on 1..n has (as in the authors' code)
_NODES = 8
_BISECTIONS = 60
_FAR = 40.0  # terms below e^-40 of the sum are left out
_LEAST_VARIANCE = 1e-200  # keeps quotients finite where there is no noise at all


def posterior_mean(frequencies: Floats, n: int, v0: float) -> Floats:
    """E[c | x]/n for every estimated count x = n f^. At least 1/n each; does not sum to 1. Biased.

    Cost: 200 to 400 terms per distinct estimate.
    """
    from deniable.kernels.histograms import posterior_means

    largest = min(n, FINEST)
    estimates, place = np.unique(largest * frequencies, return_inverse=True)
    alpha = exponent(float(frequencies.mean()) * largest, largest)
    variance = max(largest * v0 * (largest / n), _LEAST_VARIANCE)
    deviation = math.sqrt(variance)
    # relative to the likelihood's peak, the term nearest to x is at least n^-alpha, and each of the fewer than n
    # terms beyond the reach is at most e^(-reach^2/(2 variance))
    reach = deviation * math.sqrt(2 * ((alpha + 1) * math.log(largest) + _FAR))
    longest = deviation if largest > PLAIN else 0.0
    nodes, weights = rules(longest)
    means = np.empty(len(estimates))
    posterior_means(estimates, float(largest), alpha, variance, reach, longest, nodes, weights, means)
    return (means / largest)[place]


def exponent(mean: float, n: int) -> float:
    """alpha, by bisection, such that c^-alpha on 1..n has this mean.

    Between 0 (uniform: the mean is then (n+1)/2, which frequencies that sum to 1 do not exceed) and 64 (nearly
    every count is 1).
    """
    if mean <= 1:
        return FALLBACK
    counts, weights = _all_counts(n)
    logarithms = np.log(counts)
    low, high = 0.0, STEEPEST
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        terms = weights * np.exp(-middle * logarithms)
        if terms @ counts > mean * terms.sum():
            low = middle
        else:
            high = middle
    return (low + high) / 2


def rules(longest: float) -> Rules:
    """Nodes and weights of Gauss's rule on 0..m-1 for m = 8, 16, 32, ... up to the longest block.

    The nodes are the eigenvalues of the Jacobi matrix of the polynomials orthogonal on 0..m-1, whose
    coefficients are a_j = (m-1)/2 and b_j = j^2 (m^2 - j^2)/(4 (4 j^2 - 1)).
    Reference: Golub and Welsch 1969; the polynomials are Chebyshev's discrete ones.
    """
    from deniable.kernels.histograms import SMALLEST

    count = 1 + max(0, int(math.log2(longest / SMALLEST))) if longest >= SMALLEST else 1
    lengths = SMALLEST * 2.0 ** np.arange(count)
    j = np.arange(1.0, _NODES)
    nodes, weights = np.empty((count, _NODES)), np.empty((count, _NODES))
    for row, m in enumerate(lengths):
        # in units of m, which may be large
        side = np.sqrt(j**2 * (1 - (j / m) ** 2) / (4 * (4 * j**2 - 1)))
        values, vectors = np.linalg.eigh(np.diag(side, 1) + np.diag(side, -1))
        nodes[row] = (m - 1) / 2 + m * values
        weights[row] = m * vectors[0] ** 2
    return nodes, weights


def _all_counts(n: int) -> Rules:
    """Integers 1..n as nodes and weights, in blocks where n is large."""
    from deniable.kernels.histograms import SMALLEST

    if n <= PLAIN:
        return np.arange(1.0, n + 1), np.ones(n)
    nodes, weights = rules(n)
    alone = np.arange(1.0, SMALLEST * SMALLEST)
    all_nodes, all_weights = [alone], [np.ones(len(alone))]
    c = float(SMALLEST * SMALLEST)
    while c <= n:
        length = min(c / SMALLEST, n + 1 - c)
        row = int(math.log2(length / SMALLEST)) if length >= SMALLEST else -1
        all_nodes.append(c + nodes[row] if row >= 0 else np.array([c]))
        all_weights.append(weights[row] if row >= 0 else np.ones(1))
        c += SMALLEST * 2.0**row if row >= 0 else 1.0
    return np.concatenate(all_nodes), np.concatenate(all_weights)

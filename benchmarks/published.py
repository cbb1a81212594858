"""The published estimators of randomised response, as their paper describes them; ours are timed against these.

Reference: Pinzón et al. 2026, Algorithm 1 (MLE*, by a sort and a loop) and section 2.3 (IBU).
Both take the observed shares of reports and the channel's two probabilities.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def maximum_likelihood(shares: Floats, p: float, q: float) -> Floats:
    """Drop values in increasing order of their share until the rest stays positive."""
    order = np.argsort(shares)
    dropped, rest = 0, 1.0  # i and s in the paper
    while dropped < len(shares) and q * rest > (1 - dropped * q) * shares[order[dropped]]:
        rest -= shares[order[dropped]]
        dropped += 1
    kept = order[dropped:]
    frequencies = np.zeros(len(shares))
    frequencies[kept] = ((1 - dropped * q) * shares[kept] - rest * q) / (rest * (p - q))
    return frequencies


def bayesian_update(shares: Floats, p: float, q: float, iterations: int) -> Floats:
    """Start uniform; repeatedly multiply by the channel's average of observed over expected."""
    gain = p - q
    frequencies = np.full(len(shares), 1 / len(shares))
    for _ in range(iterations):
        surprise = shares / (q + gain * frequencies)
        frequencies = frequencies * (q * surprise.sum() + gain * surprise)
    return frequencies

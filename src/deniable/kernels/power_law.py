"""The loop behind a power-law prior: posterior means of counts seen with Gaussian noise."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from deniable.kernels import compiled

Floats = npt.NDArray[np.float64]

SMALLEST = 8  # integers in the smallest block; block b has 2^b times as many
_SHARE = 8.0  # a block is at most this part of its distance from either end


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

    Only integers within `reach` of x (moved into 1..largest) count. They are added up one by one, or in
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
                # log of the term, up to what all share: -alpha ln c - [(x - c)^2 - (x - near)^2] / (2 variance)
                level = -alpha * math.log(node) - (near - node) * (2.0 * x - near - node) / (2.0 * variance)
                if level > peak:
                    fall = math.exp(peak - level)
                    mass *= fall
                    moment *= fall
                    peak = level
                term = weight * math.exp(level - peak)
                mass += term
                moment += term * node
            c += SMALLEST * 2.0**block if block >= 0 else 1.0
        out[i] = moment / mass

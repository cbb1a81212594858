"""The distributions that users are drawn from in section 4.4, and the names of mechanisms in the pictures."""

from __future__ import annotations

import math

import numpy as np

from deniable.core.arrays import Floats
from deniable.planning.tuning import geometric

PAPER = "kbr"
SKEWED = (
    "geometric",
    *(f"binomial {each}" for each in (0.1, 0.2, 0.3, 0.4, 0.5)),
    *(f"zipf {each}" for each in (1, 2, 3, 4, 5)),
)
FLAT = "dirichlet"

K_RR, K_RAPPOR, O_RR, O_RAPPOR = "k-RR", "k-RAPPOR", "O-RR", "O-RAPPOR"
NAMES = {K_RR: "grr", K_RAPPOR: "sue", O_RR: "orr", O_RAPPOR: "orappor"}  # names in the paper, and in this package
LABELS = {
    "k": "values k",
    "n": "users n",
    "epsilon": "epsilon",
    "l1": "l1 loss",
    "l2": "l2 loss",
    "unbiased": "standard",
    "mle": "maximum likelihood",
    "needed": "epsilon needed",
}


def drawn(source: str, k: int, random: np.random.Generator) -> Floats:
    """The frequencies of k values; "dirichlet" draws them anew, uniformly from all distributions.

    >>> drawn("zipf 1", 3, np.random.default_rng(0)).round(3).tolist()
    [0.545, 0.273, 0.182]
    """
    kind, _, parameter = source.partition(" ")
    if kind == FLAT:
        return random.dirichlet(np.ones(k))
    if kind == "geometric":
        return geometric(k)
    ranks = np.arange(k)
    if kind == "zipf":
        weights = (ranks + 1.0) ** -float(parameter)
    else:
        # the binomial distribution on 0..k-1
        p = float(parameter)
        chance = [math.lgamma(k) - math.lgamma(i + 1) - math.lgamma(k - i) for i in range(k)]
        weights = np.exp(np.array(chance) + ranks * math.log(p) + (k - 1 - ranks) * math.log1p(-p))
    frequencies: Floats = weights / weights.sum()
    return frequencies

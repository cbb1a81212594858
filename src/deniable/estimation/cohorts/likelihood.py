"""The maximum of the likelihood of values hashed by cohort, on the few values that can be nonzero.

The most likely distribution of n reports has few nonzero frequencies, and a product with the columns of the table that
belong to them costs little. So the likelihood is maximised over these, and only then is the gradient computed for all
values: those that would gain enter, and the search goes on until none does. The gap is certified over all values, as in
iterative.py.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from deniable.core.arrays import Counts, Floats
from deniable.estimation.channel import Operator
from deniable.estimation.cohorts.design import CohortDesign
from deniable.estimation.methods.iterative import GAP, ConvergenceWarning, Maximum, iterate
from deniable.estimation.methods.working_set import admitted

_ROUNDS = 100


def most_likely(
    counts: Counts, design: CohortDesign, channel_of: Callable[[CohortDesign], Operator], start: Floats
) -> Maximum:
    """Maximise the likelihood of a distribution over the values of the design, from one that is thought to be near."""
    phi, whole, theta = counts / counts.sum(), channel_of(design), start
    values = np.flatnonzero(theta)
    updates = steps = products = 0
    for _ in range(_ROUNDS):
        part = channel_of(design.only(values))
        found = iterate(counts, part, start=theta[values])
        theta = np.zeros(design.values)
        theta[values] = found.frequencies
        updates, steps, products = updates + found.updates, steps + found.newton_steps, products + found.products
        expected = part.forward(found.frequencies)
        gradient = whole.adjoint(np.divide(phi, expected, out=np.zeros_like(phi), where=phi > 0))
        gap = max(0.0, float(gradient.max()) - 1)
        more = admitted(gradient, values)
        if gap <= GAP or not len(more):
            break
        kept = values[found.frequencies > 0]
        values = np.sort(np.append(kept, more))
    else:
        warnings.warn(f"The certified gap is {gap:.2g} instead of {GAP:.2g}.", ConvergenceWarning, stacklevel=2)
    return Maximum(theta, gap, updates, steps, products)


def work(found: Maximum) -> dict[str, Any]:
    """The details of an estimate: how it was found."""
    return {"gap": found.gap, "updates": found.updates, "newton_steps": found.newton_steps}

"""One Newton step of the likelihood on a working set: the maximum of its quadratic model, and how far to go there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.core.arrays import Floats
from deniable.estimation.methods.systems import nonnegative
from deniable.estimation.methods.working_set import WorkingSet

_PULL = 1e-9  # relative to the diagonal of H; it slows convergence by no more than this share


@dataclass(frozen=True, eq=False)
class Point:
    """Weights of a working set, the distribution of reports under them, and the gradient there."""

    phi: Floats
    part: WorkingSet
    weights: Floats
    reports: Floats
    gradient: Floats

    @property
    def gap(self) -> float:
        return float(self.gradient.max()) - 1

    def model_maximum(self, tolerance: float) -> tuple[Floats, int]:
        """Maximise the quadratic model over weights >= 0; also return the number of products with H.

        A tiny pull towards the weights keeps the system definite where reports are too few to tell values apart.
        """
        curvature = self.phi / self.reports**2
        diagonal = self.part.adjoint_squared(curvature)
        pull = _PULL * diagonal
        products = 0

        def product(vector: Floats) -> Floats:
            nonlocal products
            products += 1
            return self.part.adjoint(curvature * self.part.forward(vector)) + pull * vector

        wanted = 2 * self.gradient - 1 + pull * self.weights
        free = (self.weights > 0) | (self.gradient > 1)
        target = nonnegative(product, diagonal, wanted, free, self.weights, tolerance=tolerance)
        return target, products

    def line_search(self, target: Floats) -> Floats:
        """The first of the points 1, 1/2, 1/4, ... of the way that gains what the slope promises."""
        base = float(self.phi @ np.log(self.reports))
        rounding = 1e-14 * (1 + abs(base))
        promised = float((self.gradient - 1) @ (target - self.weights))
        share = 1.0
        while share > 1e-6:
            point: Floats = self.weights + share * (target - self.weights)
            total = point.sum()
            if total > 0:
                point /= total
                reached = self.part.forward(point)
                if reached.min() > 0:
                    gained = float(self.phi @ np.log(reached)) - base
                    if gained >= 1e-4 * share * promised - rounding:
                        return point
            share /= 2
        updated: Floats = self.weights * self.gradient  # a plain update never lowers the likelihood
        return updated

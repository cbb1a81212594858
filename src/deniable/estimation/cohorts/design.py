"""The linear model behind cohorts: the cells of a summary that each value is hashed to.

Cohort c sends value s to `hashes` of its `buckets` cells (to fewer where two hashes agree). The design X has one row
per value and one column per cell: X[s, (c, j)] = 1[j is a bucket of s in cohort c] - centre, where the centre is
the chance that an unlisted string is hashed to a cell, so that unlisted strings add nothing on average.
If cell (c, j) holds the estimated share of users who are in cohort c and have the bit j, less the centre times
the share of the cohort, then its expectation is (X^T f)/C.

With C cohorts of k buckets and one hash, X has rank C (k - 1) at most (Kairouz, Bonawitz, Ramage 2016, section G,
counts one more, the sum of all frequencies). For y = values/rank the condition number of X X^T is about
((1 + sqrt y)/(1 - sqrt y))^2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from deniable.core.arrays import Floats, Indices, Mask, Table
from deniable.core.extras import needed
from deniable.core.threads import PARTS, share_rows
from deniable.estimation.methods.systems import inverse_form, solve
from deniable.randomness.simulated import generator

MOST_LOAD = 0.5  # most unknowns per equation at which least squares is worth its errors
DENSE = 1024  # values up to which the system is solved, and its errors known, exactly
_AFFORDABLE = 2**29  # comparisons of buckets up to which that is done
_ROUNDS = 2000
_TOLERANCE = 1e-6  # of the residual: far below any standard error
_FULL = 0.95  # the largest load for which errors are estimated
_RANK = 1e-9  # eigenvalues below this share of the largest count as zero
_PRECISION = 7e-3  # relative standard error of the mean of the inverse's diagonal
LARGE = 2**22  # entries of a table from which threads share it
_SHORT = 1e-3  # share of a quadratic form of the inverse that ending early may leave out
_REST = 2e-2  # share of the diagonal that is extrapolated, to a tenth or better


@dataclass(frozen=True, eq=False)
class CohortDesign:
    """X by its products. With `complete`, frequencies sum to 1 and systems are solved on the zero-sum subspace."""

    table: Table  # [hash function, value]: its bucket
    buckets: int
    hashes: int = 1
    centre: float = 0.0
    complete: bool = False

    @property
    def cohorts(self) -> int:
        return len(self.table) // self.hashes

    @property
    def values(self) -> int:
        return int(self.table.shape[1])

    @property
    def load(self) -> float:
        """y: values to be told apart per equation; least squares needs it well below 1."""
        return (self.values - self.complete) / (self.cohorts * (self.buckets - 1))

    def only(self, chosen: Mask | Indices) -> CohortDesign:
        """The model of some of the values, whose frequencies need not sum to 1."""
        return replace(self, table=np.ascontiguousarray(self.table[:, chosen]), complete=False)

    @property
    def dense(self) -> bool:
        """Whether the system is small enough to be written out."""
        return self.values <= DENSE and self.values**2 * len(self.table) <= _AFFORDABLE

    def gather(self, cells: Floats) -> Floats:
        """X cells: for each value, the sum of its cells, less the centre times the sum of all cells."""
        from deniable.kernels.cohort_hashes import gather

        out = np.empty(self.values)
        gather(self.table, self.hashes, np.pad(cells, ((0, 0), (0, 1))), out)
        return np.asarray(out - self.centre * cells.sum())

    def scatter(self, weights: Floats) -> Floats:
        """X^T weights, one row per cohort."""
        from deniable.kernels.cohort_hashes import scatter

        out = np.zeros((self.cohorts, self.buckets + 1))

        def part(_: int, own: slice) -> None:
            scatter(self.table[own.start * self.hashes : own.stop * self.hashes], self.hashes, weights, out[own])

        share_rows(part, self.cohorts, large=self.table.size >= LARGE)
        return np.asarray(out[:, :-1] - self.centre * weights.sum())

    def sketched(self, shares: Floats) -> Floats:
        """The published estimate of sketches, from the shares of users in the cells.

        It is unbiased only over the choice of the hash functions: given these, a value is confused with values that
        share its buckets.
        """
        # (m/(m - 1)) (sum over cohorts of the share in the value's bucket - 1/m)
        own = replace(self, centre=0.0).gather(shares)
        return np.asarray((own - 1 / self.buckets) * (self.buckets / (self.buckets - 1)))

    def gram(self, weights: Floats) -> Floats:
        """X X^T weights; with `complete`, on the zero-sum subspace."""
        if not weights.any():  # where solutions start
            return np.zeros(self.values)
        if not self.complete:
            return self.product(weights)
        image = self.product(weights - weights.mean())
        return np.asarray(image - image.mean())

    def product(self, weights: Floats) -> Floats:
        """X X^T weights."""
        from deniable.kernels.cohort_hashes import through_cells

        if self.hashes > 1:
            return self.gather(self.scatter(weights))
        # the cells of a cohort add up to (1 - k centre) times the sum of the weights
        total = float(weights.sum())
        # of few cohorts each part would be as long as their sum
        large = self.table.size >= LARGE and self.cohorts >= 4 * PARTS
        outs = np.zeros((PARTS if large else 1, self.values))

        def part(number: int, own: slice) -> None:
            rows = np.empty((4, self.buckets))
            through_cells(self.table[own], -self.centre * total, weights, rows, outs[number])

        share_rows(part, self.cohorts, large=large)
        cells = self.cohorts * (1 - self.buckets * self.centre) * total
        return np.asarray(outs.sum(0) - self.centre * cells)

    def solve(self, wanted: Floats, enough: float = 0.0) -> tuple[Floats, int]:
        """x with (X X^T) x = wanted, and the steps taken (0 for a direct solution).

        `enough` is a squared error e (X X^T) e that does not matter. An error of v squared standard errors per value,
        in this norm, is one of up to v `spread` in the estimates of the values, and more where the spectrum of the
        hashes is wider than that of random ones.
        """
        if self.dense:
            return self.inverse @ wanted, 0
        mean = wanted.mean() if self.complete else 0.0
        return solve(
            self.gram,
            wanted - mean,
            np.zeros(self.values),
            lambda vector: self._scale * vector,
            rounds=_ROUNDS,
            tolerance=_TOLERANCE,
            left=enough,
            ratio=min(self.load, _FULL),  # by which a step lowers the squared error for random hashes
        )

    @property
    def _scale(self) -> float:
        """Roughly the inverse of X X^T."""
        return 1.0 / (self.cohorts * self.hashes)

    @property
    def spread(self) -> float:
        """(1 + sqrt y)/(1 - sqrt y): how much larger errors of estimates may be than in the norm of X X^T."""
        root = math.sqrt(min(self.load, _FULL))
        return (1 + root) / (1 - root)

    @cached_property
    def matrix(self) -> Floats:
        """X as a matrix, for few values; with `complete`, less the mean over values."""
        rows = np.stack([self.scatter(row).reshape(-1) for row in np.eye(self.values)])
        return rows - rows.mean(0) if self.complete else rows

    @cached_property
    def _gram(self) -> Floats:
        """X X^T as a matrix, for few values."""
        from deniable.kernels.cohort_hashes import shared_buckets

        shared = np.zeros((self.values, self.values), np.int32)
        shared_buckets(self.table, self.hashes, self.buckets, shared)
        own = np.diag(shared)
        gram = shared - self.centre * (own[:, np.newaxis] + own) + self.cohorts * self.buckets * self.centre**2
        if self.complete:
            gram = gram - gram.mean(0)
            gram = gram - gram.mean(1, keepdims=True)
        return np.asarray((gram + gram.T) / 2)

    @cached_property
    def _solution(self) -> tuple[Floats, int]:
        """The inverse of X X^T, with `complete` on the zero-sum subspace, and its rank."""
        with needed():
            from scipy.linalg import LinAlgError, cho_solve, cholesky

        # the direction of the sum is added with an average weight, and removed again
        scale = float(np.trace(self._gram)) / self.values
        even = np.full((self.values, self.values), 1 / self.values) if self.complete else 0.0
        try:
            factor = cholesky(self._gram + scale * even, lower=True)
            if factor.diagonal().min() ** 2 > _RANK * scale:
                return cho_solve((factor, True), np.eye(self.values)) - even / scale, self.values - self.complete
        except LinAlgError:
            pass
        values, vectors = np.linalg.eigh(self._gram)
        real = values > _RANK * max(values[-1], 1e-300)
        return (vectors[:, real] / values[real]) @ vectors[:, real].T, int(real.sum())

    @property
    def inverse(self) -> Floats:
        """The inverse of X X^T; with `complete`, on the zero-sum subspace."""
        return self._solution[0]

    @property
    def rank(self) -> int:
        """The number of frequencies that the cells determine: exact for few values, else an upper bound."""
        if not self.dense:
            return min(self.values - self.complete, self.cohorts * (self.buckets - 1))
        return self._solution[1]

    @property
    def identifiable(self) -> bool:
        """Whether least squares has one answer."""
        return self.rank >= self.values - self.complete

    @cached_property
    def inverse_sums(self) -> tuple[Floats, float]:
        """The diagonal of the inverse of X X^T, and the sum of all its entries.

        Exact for few values. Beyond, the diagonal is taken as constant, which it nearly is for random hashes, and its
        mean is estimated from random signs (Hutchinson 1990), with a standard error of at most 0.7%.
        """
        if self.dense:
            return np.diag(self.inverse).copy(), float(self.inverse.sum())
        # the relative variance of the mean of N squares is 2 y/((1 - y) N), by the spectrum of random hashes: a small
        # load makes the inverse nearly diagonal, and few signs exact
        y, least = min(self.load, _FULL), self.values / float(self._norm)
        wanted = math.ceil(2 * y / (1 - y) / _PRECISION**2)
        signs = generator(0).choice([-1.0, 1.0], (-(-wanted // self.values), self.values))
        if self.complete:
            signs -= signs.mean(1, keepdims=True)
        forms = [inverse_form(self.gram, row, self._scale, rounds=_ROUNDS, left=_REST, ratio=y) for row in signs]
        mean = float(np.mean(forms)) / self.values
        # what is left out of a quadratic form of the inverse is the squared error of the solution
        total = 0.0 if self.complete else float(self.solve(np.ones(self.values), _SHORT * least)[0].sum())
        return np.full(self.values, mean), total

    @property
    def _norm(self) -> float:
        """The mean of |X_s|^2 for random hashes; no entry of the inverse's diagonal is smaller than one over it."""
        return self.cohorts * self.buckets * self.centre * (1 - self.centre) or float(self.cohorts)

    def repeated(self) -> list[tuple[int, int]]:
        """Pairs of values with the same buckets in every cohort, which no report tells apart."""
        # such values have equal sums of random numbers in their cells
        sums = self.gather(generator(0).random((self.cohorts, self.buckets)))
        order = np.argsort(sums, kind="stable")
        near = np.flatnonzero(np.diff(sums[order]) < 1e-9 * self.cohorts)
        pairs = [(int(order[at]), int(order[at + 1])) for at in near]
        return [(a, b) for a, b in pairs if np.array_equal(self.table[:, a], self.table[:, b])]


@dataclass(frozen=True, eq=False)
class CellVariances:
    """n times the variance that reports alone give each cell, estimated from the counts.

    A share f of users adds `per_share` f to the variance of each cell they are in; `least` is the variance of a cell
    without users.
    """

    observed: Floats  # [cohort, bucket]
    per_share: float
    least: float

    def around(self, design: CohortDesign, norms: Floats, shares: Floats) -> Floats:
        """For each value, the mean variance of its cells without its own users, weighted as in its estimate."""
        # sum of X^2 D over |X|^2:  X is 1 - centre in the value's cells, and -centre in all others
        centre, total = design.centre, float(self.observed.sum())
        sums = design.gather(self.observed) + centre * total
        mean = ((1 - 2 * centre) * sums + centre**2 * total) / norms
        own = self.per_share * np.clip(shares, 0.0, 1.0) * (1 - centre) ** 2 * design.cohorts / norms
        return np.asarray(np.maximum(mean - own, self.least))

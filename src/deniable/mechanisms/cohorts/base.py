"""Mechanisms that hash values to buckets, by functions that differ from cohort to cohort.

A report names a cohort, drawn uniformly, and tells with noise to which bucket its value is hashed there. Cohorts
are what tells apart values that share a bucket. The domain may be open: candidates are then named when reports
are decoded (candidates.py).

Reference: Erlingsson, Pihur, Korolova 2014; Kairouz, Bonawitz, Ramage 2016, section 5.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from deniable.core.arrays import Counts, Floats, Indices
from deniable.core.domain.open import Open
from deniable.core.errors import InvalidArgument
from deniable.core.estimate import Estimate
from deniable.core.reports import Reports
from deniable.core.summary import Summary
from deniable.core.validate import choice
from deniable.estimation.channel import TARGETS, Noise
from deniable.estimation.cohorts.decoding import CohortCells
from deniable.estimation.cohorts.design import CohortDesign
from deniable.estimation.cohorts.variances import CellVariances
from deniable.estimation.methods.simplex import nearest_distribution
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.cohorts.functions import CohortFunctions

_EXACT = 2**28  # products up to which the errors of all pairs of values are computed exactly
_SIMULATED_AT_ONCE = 2**22  # cells of the table of buckets


@dataclass(frozen=True)
class CohortMechanism(CohortFunctions, Mechanism):
    """What all of them share: estimates by least squares on the cells, their errors, and simulation."""

    @abstractmethod
    def shares(self, summary: Summary) -> tuple[Floats, Floats]:
        """Unbiased shares of users in each cohort with each bucket, and of users in each cohort."""

    @abstractmethod
    def unit(self) -> float:
        """The cell noise of the integers that run."""

    @abstractmethod
    def own_noise(self, others: Any) -> Any:
        """How much more a user adds to n Var of their own value than to that of another, which is `others`."""

    @abstractmethod
    def _second_moments(self, design: CohortDesign, weights: Floats, constant: Floats) -> Floats:
        """[x, s]: the mean square of what the report of a user with value x adds to the estimate of value s.

        A cell adds to the estimate of s its share times the weight [s, cohort, bucket]; constants come on top.
        """

    @abstractmethod
    def _noisy_counts(self, users: Counts, sizes: Counts, generator: np.random.Generator) -> Counts:
        """Counts of a summary, given how many users have each bucket in each cohort, and the cohorts' sizes."""

    def cohort_cells(self, summary: Summary, design: CohortDesign) -> CohortCells:
        """What a decoder works on."""
        shares, sizes = self.shares(summary)
        cells = shares - self.centre * sizes[:, np.newaxis]
        return CohortCells(design, cells, summary.n, self.unit(), self.cell_variances(summary))

    def cell_variances(self, _summary: Summary) -> CellVariances | None:
        """How cells differ in their variance, where it is known."""
        return None

    @property
    def methods(self) -> tuple[str, ...]:
        from deniable.mechanisms.cohorts.candidates import open_methods

        return open_methods(self) if isinstance(self.domain, Open) else super().methods

    def estimate(
        self,
        summary: Summary | Reports,
        method: str | None = None,
        *,
        target: str = "users",
        candidates: Iterable[Any] | None = None,
        complete: bool = False,
        progress: Callable[[str], None] | None = None,
    ) -> Estimate:
        """Frequencies with error bars. In an open domain, of these candidates and of all other strings together.

        `complete` says that there are no other strings, which makes the estimate sharper. `progress` hears what is
        being done.
        """
        from deniable.mechanisms.cohorts.candidates import decode

        if isinstance(self.domain, Open):
            if candidates is None:
                raise InvalidArgument("candidates", "be given: an open domain lists no values to estimate", None)
            return decode(self, summary, candidates, method, target, complete=complete, progress=progress)
        if candidates is not None:
            raise InvalidArgument("candidates", "be left out: this domain lists its values", candidates)
        return super().estimate(summary, method, target=target)

    def unbiased(self, summary: Summary) -> Floats:
        design = self.whole_design
        if not design.identifiable:
            rule = "tell all values apart, and by chance does not: take another, or more cohorts"
            raise InvalidArgument("seed", rule, self.seed)
        return self.cohort_cells(summary, design).least_squares().first

    @cached_property
    def _user_variances(self) -> Floats | None:
        """[x, s]: variance that a user with value x adds to the estimate of s; None if that is too much to compute."""
        design = self.whole_design
        if self.k**2 * design.cohorts * design.buckets > _EXACT:
            return None
        even = np.full(self.k, 1 / self.k)
        constant = even - design.inverse @ design.gather(design.scatter(even))
        weights = design.cohorts * (design.inverse @ design.matrix).reshape(self.k, self.cohorts, self.buckets)
        return self._second_moments(design, weights, constant) - np.eye(self.k)

    @cached_property
    def _average_noise(self) -> tuple[float, float]:
        """n Var of the estimate of a value that nobody has, averaged over values, and what more its own users add."""
        exact = self._user_variances
        if exact is None:
            others = float(self.unit() * self.cohorts * self.whole_design.spread[0].mean())
            return others, float(self.own_noise(others))
        own = float(np.trace(exact)) / self.k
        others = (float(exact.sum()) / self.k - own) / (self.k - 1)
        return others, own - others

    def noise(self, target: str) -> tuple[float, float, float]:
        choice(TARGETS, target=target)
        if isinstance(self.domain, Open):
            raise InvalidArgument("domain", "be closed here: an open one has errors once candidates are named", "open")
        others, slope = self._average_noise
        return (others, slope, 0.0) if target == "users" else (others, slope + 1, -1.0)

    def noise_of(self, summary: Summary, target: str) -> Noise:
        """By the users there are, as estimated: those who often share a bucket with a value add more to its error."""
        exact = self._user_variances
        if exact is None:
            return self.noise(target)
        shares = nearest_distribution(self.unbiased(summary))
        own = np.diag(exact)
        others = (shares @ exact - shares * own) / np.maximum(1 - shares, 1e-12)
        bend = 0.0 if target == "users" else -1.0
        return others, own - others - bend, bend

    @property
    def noise_is_average(self) -> bool:
        return self._user_variances is None

    def simulated_counts(self, true_counts: Counts, generator: np.random.Generator) -> Counts:
        return self.simulated_among(np.arange(self.k), true_counts, generator)

    def simulated_among(self, indices: Indices, true_counts: Counts, generator: np.random.Generator) -> Counts:
        """Counts of a summary of users whose values have these indices, or in an open domain digests."""
        from deniable.kernels.cohort_hashes import count_each, count_users

        users = np.zeros((self.cohorts, self.buckets + 1), np.int64)  # the last for repeated hashes
        sizes = np.zeros(self.cohorts, np.int64)
        even = np.full(self.cohorts, 1 / self.cohorts)
        several = max(1, _SIMULATED_AT_ONCE // self.cohorts)
        for start in range(0, len(indices), several):
            part = slice(start, start + several)
            own, table = true_counts[part], self.table(indices[part])
            if own.sum() < len(own) * self.cohorts:  # few users: one by one
                cohorts = generator.integers(self.cohorts, size=int(own.sum()))
                sizes += np.bincount(cohorts, minlength=self.cohorts)
                count_each(table, self.hashes, np.repeat(np.arange(len(own)), own), cohorts, users)
            else:
                split = np.ascontiguousarray(generator.multinomial(own, even).T)  # [cohort, value]
                sizes += split.sum(1)
                count_users(table, self.hashes, split, users)
        return self._noisy_counts(users[:, :-1], sizes, generator)

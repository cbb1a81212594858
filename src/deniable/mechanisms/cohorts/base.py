"""Mechanisms that hash values to buckets, by functions that differ from cohort to cohort.

A report names a cohort, drawn uniformly, and, with noise, the bucket to which that cohort hashes the value. Values
that share a bucket in one cohort differ in others. The domain may be open: candidates are then named when reports
are decoded (candidates.py).

Reference: Erlingsson, Pihur, Korolova 2014; Kairouz, Bonawitz, Ramage 2016, section 5.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from deniable.core.arrays import Counts, Floats, Indices
from deniable.core.domain import MAX_SIZE, Domain
from deniable.core.domain.open import Open
from deniable.core.errors import InvalidArgument
from deniable.core.estimate import Estimate
from deniable.core.limits import Cost
from deniable.core.reports import Reports
from deniable.core.summary import Summary
from deniable.core.validate import choice, whole
from deniable.estimation.channel import TARGETS, Noise, Operator, for_target
from deniable.estimation.cohorts.decoding import CohortCells
from deniable.estimation.cohorts.design import CellVariances, CohortDesign
from deniable.estimation.evidence import Evidence, Method, Solution
from deniable.estimation.tails import Steps
from deniable.mechanisms.base.definition import CHOSEN, float_bound
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.cohorts import errors
from deniable.mechanisms.cohorts.functions import CohortFunctions
from deniable.mechanisms.cohorts.sizes import ANY, CANDIDATES, BucketRule, advice_on, check_design, cost_of, few, sizes


@dataclass(frozen=True)
class CohortMechanism(Mechanism):
    """Base of all cohort mechanisms: sizes and functions, estimates by least squares on cells, errors, simulation.

    The default cohorts and buckets have the least error. `candidates` is the number of strings the design is meant
    for; in a closed domain, the number of its values.
    """

    open_domains: ClassVar[bool] = True
    permutes: ClassVar[bool] = True  # whether closed domains are permuted, not hashed
    bucket_rule: ClassVar[BucketRule] = ANY
    has_likelihood: ClassVar[bool] = False  # whether `channel_of` returns a channel

    cohorts: int = CHOSEN
    buckets: int = CHOSEN
    candidates: int = CHOSEN
    seed: int = 0

    @classmethod
    def cost(cls, domain: Domain, parameters: Mapping[str, Any]) -> Cost:
        return cost_of(domain, parameters, cls.cells_of, symbols=cls.has_likelihood)

    @staticmethod
    def cells_of(cohorts: int, buckets: int) -> int:
        """Counts of a summary; by default one per report."""
        return cohorts * buckets

    @property
    def hashes(self) -> int:
        """Hash functions per cohort."""
        return 1

    @property
    def closed(self) -> bool:
        """Whether the domain lists its values."""
        return not isinstance(self.domain, Open)

    @property
    def plain(self) -> bool:
        """Whether the only cohort gives each value a bucket of its own."""
        return bool(self.functions.size) and (self.cohorts, self.buckets) == (1, self.k)

    def _settled(self) -> Mapping[str, Any]:
        values = self.k if self.closed else CANDIDATES
        if self.candidates is not None:
            least, most = (values, values) if self.closed else (1, MAX_SIZE)
            values = whole(least, most, candidates=self.candidates)
        given = {"cohorts": self.cohorts, "buckets": self.buckets}
        permuted = self.closed and self.permutes
        found = sizes(type(self), float_bound(self.epsilon), values, self.hashes, **given, permuted=permuted)
        settled = {"cohorts": found[0], "buckets": found[1], "candidates": values}
        return {**settled, "seed": whole(0, 2**32 - 1, seed=self.seed)}

    def __post_init__(self) -> None:
        super().__post_init__()
        permuted, values, plain = bool(self.functions.size), self.candidates, self.plain
        exact = plain or (self.closed and few(values, self.cohorts * self.hashes))
        check_design(values, self.cohorts, self.buckets, closed=self.closed, permuted=permuted, exact=exact)
        if exact and not plain and self.functions.rank(values) < values - 1:
            raise self._confusing_seed()

    def advice(self) -> str:
        return "" if self.closed else advice_on(self.candidates, self.cohorts, self.buckets)

    def _parameters(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("cohorts", "buckets", "candidates", "seed")}

    @cached_property
    def functions(self) -> CohortFunctions:
        """The functions that give a value its bucket in each cohort."""
        size = self.k if self.permutes and self.closed else 0
        return CohortFunctions(self.seed, self.cohorts, self.hashes, self.buckets, size)

    @cached_property
    def whole_design(self) -> CohortDesign:
        """The linear model of all values of a closed domain, whose frequencies add up to 1."""
        return self.functions.design(np.arange(self.k), complete=True)

    @staticmethod
    @abstractmethod
    def cell_noise(bound: float, buckets: int, hashes: int) -> float:
        """n C times the variance of a cell's estimated share at e^epsilon = bound, if no value is frequent."""

    @staticmethod
    def own_extra(_bound: float, _buckets: int, _others: float) -> float:
        """Extra n Var that a user adds to the estimate of their own value, beyond `others` for any other value."""
        return 0.0

    @staticmethod
    @abstractmethod
    def plain_noise(bound: float, values: int) -> float:
        """n Var of a rare value where each value has a bucket of its own in the only cohort."""

    @abstractmethod
    def shares(self, summary: Summary) -> tuple[Floats, Floats]:
        """Unbiased shares of users in each cohort with each bucket, and of users in each cohort."""

    @abstractmethod
    def unit(self) -> float:
        """The cell noise of the integers that run."""

    @abstractmethod
    def own_noise(self, others: Any) -> Any:
        """Extra n Var that a user adds to the estimate of their own value, beyond `others` for any other value."""

    @abstractmethod
    def steps(self, squares: Any) -> tuple[Any, Any]:
        """The largest moves of n times an estimate, up and down, by one independent part of a report.

        `squares` is C times the sum of the squares of the estimate's weights on the cells, of which most is in the
        C cells of the value.
        """

    @abstractmethod
    def second_moments(self, design: CohortDesign, weights: Floats, constant: Floats) -> Floats:
        """[x, s]: the mean square of what the report of a user with value x adds to estimate s.

        A cell adds its share times the weight [s, cohort, bucket] to estimate s, and `constant` [s] is added.
        """

    @abstractmethod
    def _noisy_counts(self, users: Counts, sizes: Counts, generator: np.random.Generator) -> Counts:
        """Counts of a summary, from the number of users in each bucket of each cohort, and the cohorts' sizes."""

    def cohort_cells(self, summary: Summary, design: CohortDesign) -> CohortCells:
        """The centred cells that a decoder works on."""
        shares, sizes = self.shares(summary)
        cells = shares - self.functions.centre * sizes[:, np.newaxis]
        return CohortCells(design, cells, summary.n, self.unit(), self.cell_variances(summary))

    def cell_variances(self, _summary: Summary) -> CellVariances | None:
        """The variance of each cell, where it is known."""
        return None

    def fitted_variances(self, _shares: Floats) -> CellVariances | None:
        """The variance of each cell of a closed domain, for these shares of users, where cells differ."""
        return None

    @property
    def methods(self) -> tuple[str, ...]:
        from deniable.mechanisms.cohorts.candidates import open_methods

        return super().methods if self.closed else open_methods(self)

    def _methods(self) -> Mapping[str, Method]:
        def sketch(evidence: Evidence) -> Solution:
            return Solution(self.whole_design.sketched(self.shares(evidence.summary)[0]))

        return {} if self.permutes else {"sketch": sketch}

    def channel_of(self, design: CohortDesign, *, unlisted: bool = False) -> Operator | None:
        """The channel of the design's values, and of unlisted strings as one more value, if cells are whole reports."""
        del design, unlisted
        return None

    def operator(self) -> Operator | None:
        return self.channel_of(self.whole_design) if self.closed else None

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
        """Estimate frequencies with error bars; in an open domain, of the candidates and of all other strings together.

        `complete` says that there are no other strings, which makes the estimate sharper. `progress(message)` is
        called as work proceeds.
        """
        from deniable.mechanisms.cohorts.candidates import decode

        if not self.closed:
            if candidates is None:
                raise InvalidArgument("candidates", "be given", None, "An open domain lists no values to estimate.")
            return decode(self, summary, candidates, method, target, complete=complete, progress=progress)
        if candidates is not None:
            raise InvalidArgument("candidates", "be left out", candidates, "This domain lists its values.")
        return super().estimate(summary, method, target=target)

    def unbiased(self, summary: Summary) -> Floats:
        if self.channel is not None:
            return super().unbiased(summary)
        design = self.whole_design
        if not design.identifiable:
            raise self._confusing_seed()
        return self.cohort_cells(summary, design).solution

    def _confusing_seed(self) -> InvalidArgument:
        hint = "Use another seed or more cohorts."
        return InvalidArgument("seed", "give hash functions that tell all values apart", self.seed, hint)

    def check_closed(self) -> None:
        """Raise InvalidArgument unless the domain is closed."""
        if not self.closed:
            raise InvalidArgument(
                "domain", "be closed here", "open", "Errors in an open domain depend on the candidates."
            )

    def variances_of(self, weights: Floats) -> Floats:
        self.check_closed()
        return errors.of_weights(self, weights)

    @cached_property
    def _user_variances(self) -> Floats | None:
        return errors.user_variances(self)

    def noise(self, target: str) -> tuple[float, float, float]:
        choice(TARGETS, target=target)
        self.check_closed()
        return super().noise(target) if self.channel is not None else self._average_noise(target)

    def _average_noise(self, target: str) -> tuple[float, float, float]:
        return for_target(*errors.average_noise(self, self._user_variances), target)

    def noise_of(self, evidence: Evidence, target: str) -> Noise:
        """Coefficients by the estimated frequencies: users who share a value's bucket often add more to its error."""
        if self.channel is not None:
            return super().noise_of(evidence, target)
        others, own = errors.given(self, self._user_variances, evidence)
        return for_target(others, own, target)

    def steps_of(self, evidence: Evidence, target: str) -> Steps:
        del evidence, target
        up, down = self.steps(self.cohorts * self.whole_design.inverse_sums[0])
        return Steps(up, down)

    def simulated_counts(self, true_counts: Counts, generator: np.random.Generator) -> Counts:
        return self.simulated_among(np.arange(self.k), true_counts, generator)

    def simulated_among(self, indices: Indices, true_counts: Counts, generator: np.random.Generator) -> Counts:
        """Simulate the counts of a summary of users with these indices, or digests in an open domain."""
        from deniable.mechanisms.cohorts.simulated import users_in_buckets

        return self._noisy_counts(*users_in_buckets(self.functions, indices, true_counts, generator), generator)

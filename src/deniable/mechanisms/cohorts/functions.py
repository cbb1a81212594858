"""The hash functions of a mechanism with cohorts: for one value in plain Python, for many by kernels."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any, ClassVar

import numpy as np

from deniable.core import hashing
from deniable.core.arrays import Indices, Symbols, Table, Words
from deniable.core.domain import MAX_SIZE, Domain
from deniable.core.domain.open import Open
from deniable.core.errors import InvalidArgument
from deniable.core.validate import whole
from deniable.estimation.cohorts.design import CohortDesign
from deniable.mechanisms.base.definition import Definition, float_bound
from deniable.mechanisms.cohorts.sizes import ANY, CANDIDATES, BucketRule, check_design, sizes

_MOST_BYTES = 2**33  # of a table of buckets
_FEW = 128  # values of a closed design with one cohort for which it is tried out whether it works; fewer with more


@dataclass(frozen=True)
class CohortFunctions(Definition):
    """Which bucket a value has in each cohort.

    In an open domain a value is known by its digest, in a closed one by its index. There, permutations of all
    values, taken modulo the buckets, may stand in for hashes, so that all buckets are equally full.
    """

    open_domains: ClassVar[bool] = True
    permutes: ClassVar[bool] = True  # closed domains by permutations
    bucket_rule: ClassVar[BucketRule] = ANY

    cohorts: int = None  # type: ignore[assignment]  # found by the constructor unless given
    buckets: int = None  # type: ignore[assignment]
    candidates: int = None  # type: ignore[assignment]  # how many strings the design is meant for; all, if closed
    seed: int = 0

    def __post_init__(self) -> None:
        domain = Domain.of(self.domain)
        closed = not isinstance(domain, Open)
        values = domain.k if closed else CANDIDATES
        if self.candidates is not None:
            least, most = (values, values) if closed else (1, MAX_SIZE)
            values = whole(least, most, candidates=self.candidates)
        permuted = closed and self.permutes
        bound = float_bound(self.epsilon)
        given = {"cohorts": self.cohorts, "buckets": self.buckets}
        found = sizes(type(self), bound, values, self.hashes, **given, permuted=permuted)
        for name, number in zip(("cohorts", "buckets"), found, strict=True):
            object.__setattr__(self, name, number)
        object.__setattr__(self, "candidates", values)
        object.__setattr__(self, "seed", whole(0, 2**32 - 1, seed=self.seed))
        super().__post_init__()
        plain = permuted and found == (1, values)
        exact = plain or (closed and values**2 * found[0] * self.hashes <= _FEW**2)
        check_design(values, *found, closed=closed, permuted=permuted, exact=exact)
        if exact and not plain and self._plain_rank() < values - 1:
            rule = "be another: with this one hashes do not tell all values apart (or take more cohorts)"
            raise InvalidArgument("seed", rule, self.seed)

    def _plain_rank(self) -> int:
        """How many differences of frequencies the cells determine, without a compiler, for few values and cohorts."""
        marks = np.zeros((self.k, self.cohorts, self.buckets))
        for index, cohort, place in product(range(self.k), range(self.cohorts), range(self.hashes)):
            marks[index, cohort, self.bucket(index, cohort, place)] = 1.0
        return int(np.linalg.matrix_rank((marks - marks.mean(0)).reshape(self.k, -1)))

    def _parameters(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("cohorts", "buckets", "candidates", "seed")}

    @staticmethod
    @abstractmethod
    def cell_noise(bound: float, buckets: int, hashes: int) -> float:
        """n C times the variance of a cell's estimated share at e^epsilon = bound, no value being frequent."""

    @staticmethod
    def own_extra(_bound: float, _buckets: int, _others: float) -> float:
        """How much more a user adds to n Var of their own value than to that of another, which is the last number."""
        return 0.0

    @staticmethod
    @abstractmethod
    def plain_noise(bound: float, values: int) -> float:
        """n Var of a rare value where each value has a bucket of its own in the only cohort."""

    @property
    def hashes(self) -> int:
        """Hash functions of each cohort."""
        return 1

    @property
    def size(self) -> int:
        """How many values are permuted; 0 if values are hashed."""
        return self.k if self.permutes and not isinstance(self.domain, Open) else 0

    @property
    def _functions(self) -> tuple[tuple[int, ...], ...]:
        count = self.cohorts * self.hashes
        return hashing.round_keys(self.seed, count) if self.size else hashing.affine_maps(self.seed, count)

    @cached_property
    def maps(self) -> Words:
        """The numbers of all hash functions, a row each, for the kernels; none where values are permuted."""
        return np.array([] if self.size else self._functions, np.uint64).reshape(-1, 2)

    @cached_property
    def keys(self) -> Symbols:
        """The round keys of all permutations, a row each; none where values are hashed."""
        return np.array(self._functions if self.size else [], np.uint32).reshape(-1, 2 * hashing.ROUNDS)

    def bucket(self, index: int, cohort: int, place: int = 0) -> int:
        """The bucket of a value under one function of a cohort."""
        function = self._functions[cohort * self.hashes + place]
        if self.size:
            return hashing.permuted(index, function, self.size) % self.buckets
        a, b = function
        return hashing.bucket(index, (a, b), self.buckets)

    def table(self, indices: Indices) -> Table:
        """The buckets of these values under every function; one that repeats within a cohort is marked."""
        from deniable.kernels.cohort_hashes import fill_hashed, fill_permuted, mark_repeats

        kind = np.uint16 if self.buckets < 2**16 - 1 else np.uint32
        each = self.cohorts * self.hashes * np.dtype(kind).itemsize
        if each * len(indices) > _MOST_BYTES:
            rule = (
                f"be at most {_MOST_BYTES // each:,} with {self.cohorts} cohorts, whose buckets take {each:,} bytes a "
                "value: take some at a time, or fewer cohorts"
            )
            raise InvalidArgument("k" if not isinstance(self.domain, Open) else "candidates", rule, len(indices))
        table = np.empty((self.cohorts * self.hashes, len(indices)), kind)
        if self.size:
            fill_permuted(indices, self.keys, self.size, self.buckets, table)
        else:
            fill_hashed(indices, self.maps, self.buckets, table)
        if self.hashes > 1:
            mark_repeats(table, self.hashes, self.buckets)
        return table

    @cached_property
    def centre(self) -> float:
        """The chance that a string nobody listed is hashed to a given bucket of its cohort."""
        return float(1 - (1 - Fraction(1, self.buckets)) ** self.hashes)

    def design(self, indices: Indices, *, complete: bool) -> CohortDesign:
        """The linear model for these values."""
        return CohortDesign(self.table(indices), self.buckets, self.hashes, self.centre, complete)

    @cached_property
    def whole_design(self) -> CohortDesign:
        """The linear model of all values of a closed domain, whose frequencies add up to 1."""
        return self.design(np.arange(self.k), complete=True)

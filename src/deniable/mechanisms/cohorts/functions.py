"""The hash functions of cohorts: for one value in plain Python, for many by kernels."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain, product

import numpy as np

from deniable.core import hashing
from deniable.core.arrays import Indices, Keys, Table, Words
from deniable.core.caches import FieldsOnly
from deniable.core.errors import InvalidArgument
from deniable.core.threads import share_rows
from deniable.estimation.cohorts.design import LARGE, CohortDesign

_MOST_BYTES = 2**33  # of a table of buckets


@dataclass(frozen=True)
class CohortFunctions(FieldsOnly):
    """The functions that give a value its bucket in each cohort.

    A value is known by its digest in an open domain, by its index in a closed one. With `size` > 0, permutations of
    the `size` values of a closed domain, modulo the buckets, replace the hashes, so that all buckets are equally full.
    One report computes the one function it needs; the tables of all of them are made for kernels, and are kept only as
    long as the mechanism is.
    """

    seed: int
    cohorts: int
    hashes: int
    buckets: int
    size: int

    @property
    def _count(self) -> int:
        return self.cohorts * self.hashes

    @cached_property
    def maps(self) -> Words:
        """The numbers of all hash functions, one row each, for the kernels; empty where values are permuted."""
        each = () if self.size else hashing.affine_maps(self.seed, self._count)
        return np.fromiter(chain.from_iterable(each), np.uint64).reshape(-1, 2)

    @cached_property
    def keys(self) -> Keys:
        """The round keys of all permutations, one row each; empty where values are hashed."""
        each = hashing.round_keys(self.seed, self._count) if self.size else ()
        return np.fromiter(chain.from_iterable(each), np.uint32).reshape(-1, 2 * hashing.ROUNDS)

    def bucket(self, index: int, cohort: int, place: int = 0) -> int:
        """The bucket of a value under one function of a cohort."""
        number = cohort * self.hashes + place  # of the one function that is needed
        if self.size:
            return hashing.permuted(index, hashing.round_key(self.seed, number), self.size) % self.buckets
        return hashing.bucket(index, hashing.affine_map(self.seed, number), self.buckets)

    def table(self, indices: Indices) -> Table:
        """The buckets of these values under every function; a bucket that repeats within a cohort is marked."""
        from deniable.kernels.cohort_hashes import fill_hashed, fill_permuted, mark_repeats

        numbers = self.buckets + (self.hashes > 1)  # one more marks a repeat
        kind = np.uint16 if numbers <= 2**16 else np.uint32
        each = self.cohorts * self.hashes * np.dtype(kind).itemsize
        if each * len(indices) > _MOST_BYTES:
            rule = f"be at most {_MOST_BYTES // each:,} with {self.cohorts} cohorts"
            hint = f"Buckets take {each:,} bytes per value. Use fewer values at a time, or fewer cohorts."
            raise InvalidArgument("values", rule, len(indices), hint)
        table = np.empty((self.cohorts * self.hashes, len(indices)), kind)
        maps, keys = self.maps, self.keys

        def fill(_: int, own: slice) -> None:
            if self.size:
                fill_permuted(indices, keys[own], self.size, self.buckets, table[own])
            else:
                fill_hashed(indices, maps[own], self.buckets, table[own])

        share_rows(fill, len(table), large=table.size >= LARGE)
        if self.hashes > 1:
            mark_repeats(table, self.hashes, self.buckets)
        return table

    @cached_property
    def centre(self) -> float:
        """The chance that an unlisted string is hashed to a given bucket of its cohort."""
        return float(1 - (1 - Fraction(1, self.buckets)) ** self.hashes)

    def design(self, indices: Indices, *, complete: bool) -> CohortDesign:
        """The linear model for these values."""
        return CohortDesign(self.table(indices), self.buckets, self.hashes, self.centre, complete)

    def rank(self, values: int) -> int:
        """The number of differences of frequencies that the cells determine, for few values; needs no compiler."""
        marks = np.zeros((values, self.cohorts, self.buckets))
        for index, cohort, place in product(range(values), range(self.cohorts), range(self.hashes)):
            marks[index, cohort, self.bucket(index, cohort, place)] = 1.0
        return int(np.linalg.matrix_rank((marks - marks.mean(0)).reshape(values, -1)))

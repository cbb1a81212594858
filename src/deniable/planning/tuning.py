"""The best numbers of cohorts, buckets and hashes for an open question, by formula, checked by simulation."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from deniable.core.arrays import Floats, Integers
from deniable.core.caches import FieldsOnly
from deniable.core.display import brief
from deniable.core.domain import MAX_SIZE, Domain
from deniable.core.domain.open import Open
from deniable.core.errors import InvalidArgument, ValueOutsideDomain
from deniable.core.summary import MAX_COUNT, Summary
from deniable.core.validate import choice, whole
from deniable.mechanisms.base.definition import checked_epsilon, float_bound
from deniable.mechanisms.cohorts.base import CohortMechanism
from deniable.mechanisms.cohorts.sizes import DesignWarning, Size, load, ranked
from deniable.mechanisms.forecasts.hashed import HASHES
from deniable.mechanisms.registry import mechanism, registered
from deniable.randomness.simulated import generator

SHOWN = 8
_SEEDS = 16  # seeds tried until the hash functions tell all candidates apart


@dataclass(frozen=True)
class Choice:
    """One choice of sizes, with its standard error for a rare value, unknowns per equation (load) and report bits."""

    cohorts: int
    buckets: int
    hashes: int
    std_error: float
    load: float
    report_bits: int


@dataclass(frozen=True, eq=False)
class Tuning(FieldsOnly):
    """The best choice for a question, its mechanism, and the next best choices."""

    mechanism: CohortMechanism
    n: int
    candidates: int
    choices: tuple[Choice, ...]

    @property
    def best(self) -> Choice:
        """The choice that was taken."""
        return self.choices[0]

    @property
    def std_error(self) -> float:
        """The standard error of the frequency of a rare value, by formula."""
        return self.best.std_error

    def simulated_error(self, runs: int = 5, *, seed: int = 0) -> Floats:
        """The root mean squared error of least squares in simulations, one entry per run.

        Users follow the geometric distribution with mean S/5 over S candidates, as in the experiments of Kairouz,
        Bonawitz and Ramage 2016, section 5.3.
        """
        return np.array([self._error(seed + run) for run in range(whole(1, runs=runs))])

    def _error(self, seed: int) -> float:
        m, shares = self.mechanism, geometric(self.candidates)
        drawn = generator(seed)
        true = drawn.multinomial(self.n, shares)
        counts = m.simulated_among(self._indices, true, drawn)
        summary = Summary(counts, self.n, m.fingerprint, simulated=True)
        found = m.cohort_cells(summary, self._design).solution
        return float(np.sqrt(((found[: self.candidates] - true / self.n) ** 2).mean()))

    @cached_property
    def _indices(self) -> Integers:
        m = self.mechanism
        return m.domain.indices(numbered(self.candidates)) if isinstance(m.domain, Open) else np.arange(m.k)

    @cached_property
    def _design(self) -> Any:
        m = self.mechanism
        return m.functions.design(self._indices, complete=True) if isinstance(m.domain, Open) else m.whole_design

    def __repr__(self) -> str:
        facts = {"n": f"{self.n:,}", "candidates": f"{self.candidates:,}", "std_error": f"{100 * self.std_error:.3g}%"}
        return brief(self, mechanism=self.mechanism.name, **facts)

    def __str__(self) -> str:
        m = self.mechanism
        title = f"{m.name}, epsilon={m.epsilon:g}, {self.candidates:,} candidates, n={self.n:,}"
        heading = f"{'cohorts':>8} {'buckets':>8} {'hashes':>7} {'std. error':>11} {'load':>6} {'bits':>6}"
        rows = [
            f"{c.cohorts:8,} {c.buckets:8,} {c.hashes:7} {c.std_error:11.4%} {c.load:6.3f} {c.report_bits:6,}"
            for c in self.choices
        ]
        return "\n".join([title, heading, *rows])


def tune(
    name: str,
    *,
    candidates: int | Iterable[Any],
    epsilon: float,
    n: int,
    domain: Domain | None = None,
    max_bits: int | None = None,
) -> Tuning:
    """Find the cohorts, buckets and hashes with the smallest error for these candidates, or this number of candidates.

    `domain` is open by default. `max_bits` limits the size of a report. The error is the standard error of least
    squares for a rare value, by formula (mechanisms/cohorts/sizes.py); `simulated_error` measures it.

    >>> import deniable as dn
    >>> tuned = dn.tune("orr", candidates=256, epsilon=1.0, n=1_000_000)
    >>> tuned.best.buckets
    4
    """
    listed = None if isinstance(candidates, (int, np.integer)) else list(_listed(candidates))
    values = whole(2, MAX_SIZE, candidates=candidates if listed is None else len(listed))
    whole(1, MAX_COUNT, n=n)
    if max_bits is not None:
        whole(1, max_bits=max_bits)
    cls: type[CohortMechanism] = _tunable()[choice(_tunable(), name=name)]
    domain = Domain.open() if domain is None else Domain.of(domain)
    closed = not isinstance(domain, Open)
    if closed and (values != domain.k or not _are_all(domain, listed)):
        raise InvalidArgument("candidates", f"be all {domain.k} values of the closed domain", values)
    bound = float_bound(checked_epsilon(epsilon))
    several = HASHES if "hashes" in cls.__dataclass_fields__ else (1,)
    found: list[tuple[Size, int]] = sorted(
        (size, hashes)
        for hashes in several
        for size in ranked(cls, bound, values, hashes, permuted=closed and cls.permutes)
    )
    chosen: list[tuple[CohortMechanism, Choice]] = []
    for size, hashes in found:
        sizes: dict[str, Any] = {"cohorts": size.cohorts, "buckets": size.buckets, "candidates": values}
        sizes |= {"hashes": hashes} if len(several) > 1 else {}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DesignWarning)  # the load is part of the answer
                made = mechanism(name, domain=domain, epsilon=epsilon, **sizes)
        except InvalidArgument:  # its hash functions do not tell all values apart
            continue
        assert isinstance(made, CohortMechanism)
        if max_bits is None or made.report_bits <= max_bits:
            y = load(values, size.cohorts, size.buckets)
            row = Choice(size.cohorts, size.buckets, hashes, math.sqrt(size.error / n), y, made.report_bits)
            chosen.append((made, row))
        if len(chosen) == SHOWN:
            break
    if not chosen:
        hint = f"No design for {values} candidates is small enough."
        raise InvalidArgument("max_bits", "be larger", max_bits, hint)
    best = chosen[0][0] if listed is None or closed else _without_twins(chosen[0][0], listed)
    return Tuning(best, int(n), values, tuple(row for _, row in chosen))


def geometric(size: int) -> Floats:
    """The geometric distribution with mean S/5 over 0..S-1, cut and normalised (Kairouz, Bonawitz, Ramage 2016, H)."""
    shares = (1 - 1 / (size / 5 + 1)) ** np.arange(size)
    return np.asarray(shares / shares.sum())


def numbered(size: int) -> list[str]:
    """Make placeholder strings for candidates that are not known."""
    return [f"candidate {number}" for number in range(size)]


def _tunable() -> dict[str, type[CohortMechanism]]:
    return {cls.name: cls for cls in registered() if issubclass(cls, CohortMechanism)}


def _listed(candidates: object) -> Iterable[Any]:
    if isinstance(candidates, (str, bytes)) or not isinstance(candidates, Iterable):
        raise InvalidArgument("candidates", "be a number, or a list of strings", candidates)
    return candidates


def _are_all(domain: Domain, listed: list[Any] | None) -> bool:
    """Whether the listed values, if any, are exactly the values of a closed domain."""
    try:
        return listed is None or len(np.unique(domain.indices(listed))) == domain.k
    except ValueOutsideDomain:
        return False


def _without_twins(made: CohortMechanism, listed: list[Any]) -> CohortMechanism:
    """Return the mechanism with the first seed whose hash functions tell all these candidates apart."""
    assert isinstance(made.domain, Open)
    indices = made.domain.indices(made.domain.candidates(listed).all_labels()[:-1])
    for seed in range(_SEEDS):
        parameters = {**made.spec.parameters, "seed": seed}
        again = mechanism(made.name, domain=made.domain, **parameters)  # type: ignore[arg-type]
        assert isinstance(again, CohortMechanism)
        if not again.functions.design(indices, complete=False).repeated():
            return again
    raise InvalidArgument("candidates", f"be told apart by one of {_SEEDS} seeds", len(listed))

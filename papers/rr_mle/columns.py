"""The columns of Figure 3: real if the file is found, otherwise a stand-in that says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deniable.core.arrays import Counts, Floats
from deniable.randomness.simulated import generator
from papers.frame.data import find, histogram

KOSARAK_FILE = "hist_kosarak_first100k_firstitem.csv"
INCOME_FILE = "hist_acs2013_17_100k_20states_pincp.csv"
FILES = (KOSARAK_FILE, INCOME_FILE)


@dataclass(frozen=True)
class Column:
    """A column: the number of possible values, and the number of users with each."""

    k: int
    label: str
    counts: Callable[[], Counts]


def column(name: str) -> Column:
    """Kosarak's first page of a visit, or the areas (PUMA) or incomes (PINCP) of ACSIncome."""
    return {"Kosarak": _kosarak, "PUMA": _areas, "PINCP": _incomes}[name]()


def _kosarak() -> Column:
    k = 41_270
    if find(KOSARAK_FILE):
        return Column(k, "Kosarak, first 100,000 visits", lambda: _from_file(KOSARAK_FILE, k, first=1))
    return Column(k, "stand-in: Zipf 1.6", lambda: _drawn(np.arange(1.0, k + 1) ** -1.6, 100_000))


def _incomes() -> Column:
    k = 1_423_000  # whole dollars from 100
    if find(INCOME_FILE):
        return Column(k, "ACS income, 100,000 persons", lambda: _from_file(INCOME_FILE, k, first=100))
    return Column(k, "stand-in: log-normal incomes", lambda: _lognormal(k))


def _areas() -> Column:
    # codes 100, 200, ... are used by many states, high codes by few: fewer persons the higher the code
    k, step = 70_201, 100
    weights = np.zeros(k)
    weights[::step] = np.arange(1, len(weights[::step]) + 1) ** -0.8
    return Column(k, "stand-in: 703 codes, Zipf 0.8", lambda: _drawn(weights, 1_664_500))


def _from_file(name: str, k: int, first: int) -> Counts:
    """The counts of the integers first, ..., first + k - 1; others are omitted."""
    values, counts = histogram(name)
    places = np.array([int(float(value)) for value in values], np.int64) - first
    inside = (places >= 0) & (places < k)
    users = np.zeros(k, np.int64)
    np.add.at(users, places[inside], counts[inside])
    return users


def _drawn(weights: Floats, n: int) -> Counts:
    return generator(0).multinomial(n, weights / weights.sum())


def _lognormal(k: int) -> Counts:
    """Incomes rounded to hundreds, as most people state them, with median 34,000."""
    drawn = np.round(np.exp(generator(0).normal(10.4, 1.0, 100_000)) / 100).astype(np.int64) * 100
    return np.bincount(drawn[(drawn >= 100) & (drawn < k)] - 100, minlength=k)

"""Compile and cache every loop, so that no later process has to: for images and read-only installations."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import combinations

from deniable import kernels
from deniable.core.errors import InvalidArgument
from deniable.counts.noise import DiscreteLaplace
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.registry import list_mechanisms, mechanism

_VALUES, _FEW = 100, 15
_REPORTS = 2 * _VALUES
NOISE = "release"  # the noise of counts, beside the names of mechanisms


def warm_up(names: Iterable[str] | None = None) -> Iterator[str]:
    """Compile the loops of these mechanisms, by default of all and of `release`; yield each name when it is done."""
    kernels.compile_everything()
    for name in [*list_mechanisms(), NOISE] if names is None else names:
        _run_noise() if name == NOISE else _run(_example(name))
        yield name


def cache_folder() -> str | None:
    """Where compiled loops are kept; None where nothing can be kept."""
    from deniable.kernels.response import count_into

    assert isinstance(count_into, kernels.Kernel)
    return count_into.cache_folder


def _example(name: str) -> Mechanism:
    """A small mechanism of this name; with the blocks or the matrix that it cannot do without."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the size of the example
        if name == "design":
            return mechanism(name, k=_FEW, epsilon=1.0, blocks=[list(pair) for pair in combinations(range(_FEW), 2)])
        if name == "matrix":
            return mechanism(name, k=2, epsilon=1.0, matrix=[[0.7, 0.3], [0.3, 0.7]])
        return mechanism(name, k=_VALUES, epsilon=1.0)


def _run(m: Mechanism) -> None:
    """Take reports through every step: privatize, encode, decode, summarise, simulate, and each estimation method."""
    made = m.privatize([i % m.k for i in range(_REPORTS)])
    summary = m.summarize(m.decode_many(m.encode_many(made)))
    for method in (*m.methods, "mle-reports"):
        with suppress(InvalidArgument):  # a method that needs other reports
            m.estimate(made if method == "mle-reports" else summary, method)


def _run_noise() -> None:
    DiscreteLaplace(epsilon=1.0).release([1] * _REPORTS)

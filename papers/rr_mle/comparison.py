"""The estimators side by side, on the same simulated reports: squared error, likelihood, bias and variance."""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.core.arrays import Counts, Floats
from deniable.core.summary import Summary
from deniable.estimation.methods.likelihood import log_likelihood
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.registry import mechanism
from deniable.randomness.simulated import generator
from deniable.simulation import simulate
from papers.rr_mle.columns import column

VALID = {"mle": "MLE*", "projected": "InvP", "normalized": "InvN"}  # our names of methods to the paper's
ALL = {"unbiased": "Inv", **VALID}
MLE, INV_P, INV_N = VALID.values()
USERS = (10**2, 10**3, 10**4, 10**5, 10**6)
EPSILONS = tuple(float(each) for each in range(1, 11))


def zipf(k: int, skew: float) -> Floats:
    """Frequencies proportional to i^-skew."""
    weights = np.arange(1, k + 1, dtype=float) ** -skew
    frequencies: Floats = weights / weights.sum()
    return frequencies


def by_users(seed: int, k: int, epsilon: float, skew: float) -> list[dict[str, Any]]:
    """Figures 1 and 5 to 10: users drawn from a Zipf distribution, compared with their true histogram."""
    source = generator(seed)
    return [{"n": n, **row} for n in USERS for row in _scores(source, k, epsilon, source.multinomial(n, zipf(k, skew)))]


def by_epsilon(seed: int, k: int, n: int, skew: float) -> list[dict[str, Any]]:
    """Figure 2: users drawn from a Zipf distribution, the same users for every epsilon."""
    source = generator(seed)
    users = source.multinomial(n, zipf(k, skew))
    return [{"epsilon": epsilon, **row} for epsilon in EPSILONS for row in _scores(source, k, epsilon, users)]


def real(seed: int, dataset: str, epsilon: float) -> list[dict[str, Any]]:
    """Figure 3: the users of a real column, or of its stand-in."""
    found = column(dataset)
    return [{**row, "data": found.label} for row in _scores(generator(seed), found.k, epsilon, found.counts())]


def four_errors(seed: int, k: int, epsilon: float, n: int, skew: float) -> list[dict[str, Any]]:
    """Theorem 9: the squared error of all four estimators, summed over values."""
    source = generator(seed)
    users = source.multinomial(n, zipf(k, skew))
    server, summary = _reports(source, k, epsilon, users)
    truth = users / n
    return [
        {"method": name, "total": float(((_frequencies(server, summary, method) - truth) ** 2).sum())}
        for method, name in ALL.items()
    ]


def bias(seed: int, k: int, epsilon: float, n: int, skew: float, draws: int) -> list[dict[str, Any]]:
    """Squared bias and variance of the valid estimators for one fixed set of users, from many randomisations."""
    users = generator(0).multinomial(n, zipf(k, skew))
    source = generator(seed)
    sums = {method: (np.zeros(k), np.zeros(k)) for method in VALID}
    for _ in range(draws):
        server, summary = _reports(source, k, epsilon, users)
        for method, (first, second) in sums.items():
            away = _frequencies(server, summary, method) - users / n
            first += away
            second += away**2
    rows = []
    for method, (first, second) in sums.items():
        mean = first / draws
        variance = float(((second - draws * mean**2) / (draws - 1)).sum())
        # E |mean|^2 = |bias|^2 + variance / draws: subtracted, so that few draws do not look like bias
        squared = float((mean**2).sum()) - variance / draws
        rows.append({"method": VALID[method], "bias": squared, "variance": variance})
    return rows


def _scores(source: np.random.Generator, k: int, epsilon: float, users: Counts) -> list[dict[str, Any]]:
    server, summary = _reports(source, k, epsilon, users)
    truth, operator = users / users.sum(), server.operator()
    assert operator is not None
    rows: list[dict[str, Any]] = []
    for method, name in VALID.items():
        frequencies = _frequencies(server, summary, method)
        error = float(((frequencies - truth) ** 2).mean())
        rows.append({"method": name, "mse": error, "nll": -log_likelihood(frequencies, summary.counts, operator)})
    lowest = min(row["nll"] for row in rows)
    return [{**row, "excess": row["nll"] - lowest} for row in rows]


def _reports(source: np.random.Generator, k: int, epsilon: float, users: Counts) -> tuple[Mechanism, Summary]:
    server = mechanism("grr", k=k, epsilon=epsilon)
    return server, simulate(server, users, seed=int(source.integers(2**62)))


def _frequencies(server: Mechanism, summary: Summary, method: str) -> Floats:
    return server.estimate(summary, method).frequencies

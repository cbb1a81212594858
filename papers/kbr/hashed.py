"""O-RR and O-RAPPOR for open and closed alphabets, and their l1 loss on users drawn from the geometric distribution."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from deniable.core.arrays import Counts, Floats
from deniable.core.domain import Domain
from deniable.core.domain.open import Open
from deniable.core.errors import InvalidArgument
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.cohorts.base import CohortMechanism
from deniable.mechanisms.cohorts.sizes import DesignWarning
from deniable.mechanisms.registry import mechanism
from deniable.planning.tuning import geometric, numbered, tune
from deniable.randomness.simulated import generator
from deniable.simulation import simulate
from papers.kbr.sources import K_RAPPOR, K_RR, NAMES, O_RAPPOR, O_RR

Sample = tuple[Counts, int]

OPEN, CLOSED = "open", "closed"
TUNED, SEARCHED = "tuned", "searched"
SHOWN = {OPEN: (O_RR, O_RAPPOR), CLOSED: (O_RR, O_RAPPOR, K_RR, K_RAPPOR)}
RAW, EVEN = "empirical, raw data", "uniform"
_METHOD = "projected"  # the decoder of all of section 5
_TRIES = 3  # samples for each choice of sizes in a search


def losses(seed: int, size: int, n: int, epsilon: float, alphabet: str, sizes: str) -> list[dict[str, Any]]:
    """One sample: the loss of each mechanism with its best sizes, by formula or by search, and both baselines."""
    one = sample(size, n, generator(seed))
    found = {name: loss(best(name, alphabet, size, epsilon, n, sizes), one) for name in SHOWN[alphabet]}
    return [{"method": name, "l1": each} for name, each in {**found, **baselines(geometric(size), n)}.items()]


def sample(size: int, n: int, random: np.random.Generator) -> Sample:
    """The number of users with each value, and an independent seed for their reports."""
    return random.multinomial(n, geometric(size)), int(random.integers(2**62))


def baselines(p: Floats, n: int) -> dict[str, float]:
    """The expected loss of the users' true histogram, for many users, and of the uniform distribution."""
    # E |p_i - T_i/n| is about sqrt(2 p_i (1 - p_i)/(pi n))
    raw = float(np.sqrt(2 * p * (1 - p) / (math.pi * n)).sum())
    return {RAW: raw, EVEN: float(np.abs(p - 1 / len(p)).sum())}


def loss(server: Mechanism, one: Sample) -> float:
    """The l1 distance between the decoded distribution and the one that users were drawn from."""
    users, seed = one
    if not isinstance(server.domain, Open):
        found = server.estimate(simulate(server, users, seed=seed), _METHOD).frequencies
    else:
        words = numbered(len(users))
        summary = simulate(server, users, seed=seed, candidates=words)
        assert isinstance(server, CohortMechanism)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DesignWarning)  # strings that share all buckets are part of the picture
            try:
                found = server.estimate(summary, _METHOD, candidates=words, complete=True).frequencies
            except InvalidArgument:
                # no unique answer: take the one of least norm, as the usual least-squares solvers do
                design = server.functions.design(server.domain.indices(words), complete=True)
                found = server.cohort_cells(summary, design).projected().frequencies
    return float(np.abs(found - geometric(len(users))).sum())


@lru_cache(maxsize=64)
def best(name: str, alphabet: str, size: int, epsilon: float, n: int, sizes: str) -> Mechanism:
    """The mechanism with the sizes of least error by formula, or with the least median loss in the paper's search."""
    if name in (K_RR, K_RAPPOR):
        return mechanism(NAMES[name], k=size, epsilon=epsilon)
    if sizes == TUNED:
        domain = Domain.open() if alphabet == OPEN else Domain.of(size)
        return tune(NAMES[name], candidates=size, epsilon=epsilon, n=n, domain=domain).mechanism
    random = generator(0)
    samples = [sample(size, n, random) for _ in range(_TRIES)]
    all_sizes = dict.fromkeys(grid(name, alphabet, size))
    found = {each: median_loss(name, alphabet, size, epsilon, each, samples) for each in all_sizes}
    made = make(name, alphabet, size, epsilon, *min(found, key=lambda each: found[each]))
    assert made is not None
    return made


def grid(name: str, alphabet: str, size: int) -> Iterator[tuple[int, int, int]]:
    """The cohorts, buckets and hashes that the paper searches."""
    most = 12 if size <= 256 else 14
    hashes = (1,) if name == O_RR else (1, 2, 4, 8, 16) if size <= 256 else (1, 2)
    for each in hashes:
        for power in range(1, most + 1):
            if alphabet == OPEN or 2**power <= size:
                for cohorts in range(11):
                    yield 2**cohorts, 2**power, each


def make(
    name: str, alphabet: str, size: int, epsilon: float, cohorts: int | None, buckets: int | None, hashes: int = 1
) -> Mechanism | None:
    """Make a mechanism with these sizes, the best by formula where None; return None if it refuses them."""
    parameters: dict[str, Any] = {"cohorts": cohorts, "buckets": buckets}
    if name == O_RAPPOR:
        parameters["hashes"] = hashes
    given = cohorts is not None and buckets is not None
    if alphabet == OPEN:
        # sizes that cannot tell all strings apart are asked for on purpose
        parameters |= {"domain": Domain.open(), "candidates": 1 if given else size}
    else:
        parameters["k"] = size
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DesignWarning)
        try:
            return mechanism(NAMES[name], epsilon=epsilon, **parameters)
        except InvalidArgument:
            return None


def median_loss(
    name: str, alphabet: str, size: int, epsilon: float, sizes: tuple[int, int, int], samples: list[Sample]
) -> float:
    """The median loss of these sizes over some samples; infinite if there is no such mechanism."""
    made = make(name, alphabet, size, epsilon, *sizes)
    if made is None:
        return math.inf
    try:
        return float(np.median([loss(made, each) for each in samples]))
    except InvalidArgument:  # a closed design that cannot tell its values apart
        return math.inf

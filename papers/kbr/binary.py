"""Theorem 2: on two values no mechanism has a smaller minimax risk than randomised response, whatever the loss."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from deniable.core.arrays import Floats
from deniable.mechanisms.registry import mechanism
from deniable.randomness.simulated import generator
from papers.frame.experiment import Claim, Experiment, Grid, Scatter
from papers.frame.judging import share_of
from papers.kbr.sources import PAPER

WARNER, SUE, OUE, RANDOM = "randomised response", "k-RAPPOR", "optimized unary", "random mechanism"
LOSSES: dict[str, Callable[[Any], Any]] = {
    "absolute": np.abs,
    "squared": np.square,
    "beyond 0.1": lambda away: (np.abs(away) > 0.1).astype(float),
    "lopsided": lambda away: np.where(away > 0, 3 * away, -away),
}
_PLACES = np.linspace(0, 1, 21)


def measure(seed: int, epsilon: float, n: int, loss: str) -> list[dict[str, Any]]:
    """For several mechanisms on two values: their minimax risk relative to the least, and W with Q = Q_WRR W."""
    random = generator(seed)
    warner = _warner(epsilon)
    least = minimax_risk(warner, n, LOSSES[loss])
    shown = {WARNER: warner, SUE: _bits(epsilon, SUE), OUE: _bits(epsilon, OUE)}
    others = [*shown.items(), *((RANDOM, _random(epsilon, random)) for _ in range(3))]
    rows = []
    for name, matrix in others:
        mixing = np.linalg.solve(warner, matrix)  # W with Q = Q_WRR W
        ratio = minimax_risk(matrix, n, LOSSES[loss]) / least
        rows.append(
            {
                "method": name,
                "outputs": matrix.shape[1],
                "ratio": ratio,
                "risk": ratio * least,
                "least entry": float(mixing.min()),
                "off": float(np.abs(mixing.sum(1) - 1).max()),
            }
        )
    return rows


def _warner(epsilon: float) -> Floats:
    """The channel of randomised response as implemented."""
    server = mechanism("grr", k=2, epsilon=epsilon)
    channel = server.channel
    assert channel is not None
    p, q = float(channel.p), float(channel.q)
    return np.array([[p, q], [q, p]])


def _bits(epsilon: float, name: str) -> Floats:
    """Two noisy bits, one per value."""
    root = math.exp(epsilon / 2)
    p, q = (root / (root + 1), 1 / (root + 1)) if name == SUE else (0.5, 1 / (math.exp(epsilon) + 1))
    first, second = np.array([p, 1 - p]), np.array([q, 1 - q])
    return np.array([np.outer(first, second).reshape(-1), np.outer(second, first).reshape(-1)])


def _random(epsilon: float, random: np.random.Generator) -> Floats:
    """A random channel with 2 to 4 outputs whose ratios stay within e^epsilon; two of them reach it."""
    outputs = int(random.integers(2, 5))
    logs = np.concatenate([[epsilon, -epsilon], random.uniform(-epsilon, epsilon, outputs - 2)])
    weights, gains = random.dirichlet(np.ones(outputs)), np.expm1(logs)
    # both rows sum to 1: ratios above 1 add as much as ratios below 1 take away
    above = gains > 0
    weights[above] *= -(weights[~above] @ gains[~above]) / (weights[above] @ gains[above])
    first: Floats = weights / weights.sum()
    return np.array([first, first * np.exp(logs)])


def minimax_risk(matrix: Floats, n: int, loss: Callable[[Any], Any]) -> float:
    """The least worst-case expected loss from n reports, for truths and guesses on a grid, by a linear program.

    >>> matrix = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> round(minimax_risk(matrix, 1, np.abs), 3)  # one report without noise: guess 1/4 or 3/4
    0.25
    """
    from scipy.optimize import linprog

    outcomes = np.array(list(_outcomes(n, matrix.shape[1])))
    logs = np.array([math.lgamma(n + 1) - sum(math.lgamma(each + 1) for each in row) for row in outcomes])
    chances = np.outer(_PLACES, matrix[0]) + np.outer(1 - _PLACES, matrix[1])
    likely = np.exp(logs) * np.prod(chances[:, np.newaxis, :] ** outcomes, axis=2)  # [truth, outcome]
    table = loss(_PLACES[np.newaxis, :] - _PLACES[:, np.newaxis])  # [truth, guess]
    expected = (likely[:, :, np.newaxis] * table[:, np.newaxis, :]).reshape(len(_PLACES), -1)
    size = expected.shape[1]
    above = np.hstack([expected, -np.ones((len(_PLACES), 1))])
    sums = np.hstack([np.kron(np.eye(len(outcomes)), np.ones(len(_PLACES))), np.zeros((len(outcomes), 1))])
    cost = np.append(np.zeros(size), 1.0)
    solved = linprog(cost, above, np.zeros(len(_PLACES)), sums, np.ones(len(outcomes)), method="highs")
    return float(solved.fun)


def _outcomes(n: int, outputs: int) -> Iterator[list[int]]:
    """All ways to distribute n reports over the outputs."""
    for chosen in combinations_with_replacement(range(outputs), n):
        yield [chosen.count(each) for each in range(outputs)]


THEOREM_2 = Experiment(
    PAPER,
    "theorem-2",
    "Theorem 2: minimax risk of mechanisms of two values over that of randomised response",
    measure,
    quick=Grid({"epsilon": (0.5, 1.0, 2.0, 4.0), "n": (1, 3), "loss": tuple(LOSSES)}, repeats=2),
    full=Grid({"epsilon": (0.25, 0.5, 1.0, 2.0, 4.0, 8.0), "n": (1, 2, 3, 5), "loss": tuple(LOSSES)}, repeats=10),
    claims=(
        Claim(
            "randomised response has the least minimax risk, for every loss and epsilon",
            share_of(lambda row: row["ratio"] >= 1 - 1e-6, "no mechanism has a smaller one"),
            "Theorem 2",
        ),
        Claim(
            "every other mechanism is randomised response and a further randomisation of its answer",
            share_of(
                lambda row: row["least entry"] >= -1e-9 and row["off"] <= 1e-9, "the further one is a distribution"
            ),
            "3, proof of Theorem 2",
        ),
    ),
    picture=Scatter(
        "epsilon", "ratio", "method", panels=("loss", "n"), labels={"ratio": "risk / that of randomised response"}
    ),
    note="A check, not a proof: four losses (one of them lopsided, one a threshold), few reports, truths and guesses "
    "on a grid of 21 points, and for each the best randomised estimator by a linear program. Random mechanisms have up "
    "to four outputs and use all of epsilon.",
)

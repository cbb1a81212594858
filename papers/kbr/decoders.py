"""Figures 1, 2, 5 and 6: decoders of k-RR and k-RAPPOR on the same simulated reports, and the best of each."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from deniable.mechanisms.registry import mechanism
from deniable.randomness.simulated import generator
from deniable.simulation import simulate
from papers.kbr.sources import K_RAPPOR, K_RR, NAMES, drawn

PROJECTED, NORMALIZED = "projected", "normalized"
DECODERS = {K_RR: (PROJECTED, NORMALIZED, "mle"), K_RAPPOR: (PROJECTED, NORMALIZED, "unbiased")}
BESIDE = {K_RR: (), K_RAPPOR: ("composite",)}  # not in the paper's pictures
BEST = {K_RR: "best k-RR", K_RAPPOR: "best k-RAPPOR"}
LOW_PRIVACY, HIGH_PRIVACY = "k < e^epsilon", "k >= e^epsilon"

Losses = dict[tuple[str, str], dict[str, float]]


def decoders(seed: int, source: str, n: int, k: int, epsilon: float, draws: int) -> list[dict[str, Any]]:
    """The loss of every decoder, averaged over some draws, and the improvement of the projected one on the others."""
    losses = _losses(seed, source, n, k, epsilon, draws)
    rows = []
    for name, methods in DECODERS.items():
        gains = {
            f"gain {norm}": losses[name, PROJECTED][norm]
            - min(losses[name, method][norm] for method in methods if method != PROJECTED)
            for norm in ("l1", "l2")
        }
        rows += [
            {"mechanism": name, "with": f"{name}, n={n}", "method": method, **losses[name, method], **gains}
            for method in (*methods, *BESIDE[name])
        ]
    return rows


def best(seed: int, source: str, n: int, k: int, epsilon: float, draws: int) -> list[dict[str, Any]]:
    """The loss of the best decoder of either mechanism, averaged over some draws, and their difference."""
    losses = _losses(seed, source, n, k, epsilon, draws)
    found = {
        name: {norm: min(losses[name, method][norm] for method in methods) for norm in ("l1", "l2")}
        for name, methods in DECODERS.items()
    }
    gains = {f"gain {norm}": found[K_RR][norm] - found[K_RAPPOR][norm] for norm in ("l1", "l2")}
    region = LOW_PRIVACY if k < 0.999 * math.exp(epsilon) else HIGH_PRIVACY
    return [{"method": BEST[name], "region": region, **found[name], **gains} for name in DECODERS]


def _losses(seed: int, source: str, n: int, k: int, epsilon: float, draws: int) -> Losses:
    """Distances of the decoded distribution from the users' own histogram."""
    random = generator(seed)
    servers = {name: mechanism(NAMES[name], k=k, epsilon=epsilon) for name in DECODERS}
    sums: Losses = {}
    for _ in range(draws):
        users = random.multinomial(n, drawn(source, k, random))
        for name, server in servers.items():
            summary = simulate(server, users, seed=int(random.integers(2**62)))
            for method in (*DECODERS[name], *BESIDE[name]):
                away = server.estimate(summary, method).frequencies - users / n
                found = {"l1": float(np.abs(away).sum()), "l2": float(np.sqrt((away**2).sum()))}
                sums.setdefault((name, method), {"l1": 0.0, "l2": 0.0})
                for norm, loss in found.items():
                    sums[name, method][norm] += loss / draws
    return sums

"""Figure 3: the success rate of the best guess of a value from one report."""

from __future__ import annotations

from math import exp
from typing import Any

import numpy as np

from deniable.core.arrays import Counts
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.designs.projective_geometry import ProjectiveGeometryResponse
from deniable.mechanisms.layouts.bitmaps import BitmapLayout
from deniable.mechanisms.layouts.residues import ResidueLayout
from deniable.mechanisms.subsets.modular_subset import ModularSubsetSelection
from deniable.mechanisms.subsets.subset_selection import SubsetSelection
from papers.mss.oracles import THEIRS, data, made
from papers.mss.published_numbering import attack_rates

NUMBERED = "pgr, published numbering"
_SHOWN = (*THEIRS, "csr", "clh")


def measure(seed: int, k: int, n: int, epsilon: float, rounding: str) -> list[dict[str, Any]]:
    """Attack n reports of Zipf data, with a uniform prior over all values.

    `rate` is the success rate over these users, `uniform` the exact rate for uniform values. `shares` is the rate that
    follows from w/m (w/k for subset selection) alone: the mean of e/(k (1 + (w/m)(e - 1))).
    """
    counts = data("zipf", k, n, 2 * seed)
    unrounded = (exp(epsilon) + 1) / (2 * k)  # where a report supports a share of exactly 1/(e + 1)
    rows: list[dict[str, Any]] = []
    for name in _SHOWN:
        mechanism = made(name, k, epsilon, seed, rounding)
        if mechanism is None:
            continue
        uniform = float(mechanism.reconstruction_rate())
        rate = guessed(mechanism, counts, 2 * seed + 1)
        row: dict[str, Any] = {"method": name, "rate": rate, "uniform": uniform, "over": uniform / unrounded}
        if isinstance(mechanism, (ModularSubsetSelection, SubsetSelection)):
            row["shares"] = by_shares(mechanism)
        rows.append(row)
        if isinstance(mechanism, ProjectiveGeometryResponse):
            rates = attack_rates(mechanism.q, mechanism.t, k, epsilon)
            row = {"method": NUMBERED, "rate": float(rates @ counts) / n, "uniform": float(rates.mean())}
            rows.append({**row, "over": row["uniform"] / unrounded})
    return rows


def by_shares(mechanism: ModularSubsetSelection | SubsetSelection) -> float:
    """The mean over cohorts of e/(k (1 + rho (e - 1))), rho the share of residues (or values) marked by a report."""
    e, k = exp(mechanism.epsilon), mechanism.k
    if isinstance(mechanism, SubsetSelection):
        shares = [mechanism.w / k]
    else:
        shares = [w / m for m, w in zip(mechanism.moduli, mechanism.sizes, strict=True)]
    return float(np.mean([e / (k * (1 + share * (e - 1))) for share in shares]))


def guessed(mechanism: Mechanism, counts: Counts, seed: int) -> float:
    """The success rate of the best guess: 1/N if N values make the report likeliest, the sender's among them."""
    values = np.repeat(np.arange(len(counts)), counts)
    reports = mechanism.privatize(values, seed=seed).data
    if isinstance(mechanism.layout, (BitmapLayout, ResidueLayout)):
        marks, ratio = _marks(mechanism, reports, values), float(mechanism.ratio())
        operator: Any = mechanism.reports_operator(reports)
        if not isinstance(mechanism, (ModularSubsetSelection, SubsetSelection)):
            ratio = operator.ratio
        many = np.rint((operator.forward(np.ones(mechanism.k)) - mechanism.k) / (ratio - 1))
    else:
        pairs, back = np.unique(np.stack([reports, values]), axis=1, return_inverse=True)
        chances = np.array([float(mechanism.probability(*pair)) for pair in pairs.T.tolist()])[back]
        low, high = chances.min(), chances.max()
        marks = chances > 0.999 * high
        operator = mechanism.operator()
        total = operator.forward(np.ones(mechanism.k))[reports]
        many = np.floor((total - low * mechanism.k) / (high - low) + 0.25)  # in clh, a value in no class adds up to 1/2
    # a report that supports no value gives no information: any guess will do
    return float(np.mean(np.where(many > 0, marks / np.maximum(many, 1), 1 / mechanism.k)))


def _marks(mechanism: Mechanism, reports: Any, values: Any) -> Any:
    """Whether each report marks its sender's value, or the value's residue."""
    if isinstance(mechanism, ModularSubsetSelection):
        cohorts, reports = reports[:, 0].astype(np.int64), reports[:, 1:]
        values = values % np.array(mechanism.moduli)[cohorts]
    words = reports[np.arange(len(values)), values >> 6]
    return words >> (values & 63).astype(np.uint64) & np.uint64(1)

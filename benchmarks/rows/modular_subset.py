"""Costs of Modular Subset Selection: decoding, beside scipy's LSMR on the same sparse system, and bits per report."""

from __future__ import annotations

from functools import partial
from math import exp

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import lsmr

import deniable as dn
from benchmarks.clock import medians
from benchmarks.data import zipf_counts
from benchmarks.goals import OURS, AtMost, Faster, Measured, timed
from benchmarks.registry import Bench, Row

LSMR = "scipy.sparse LSMR"
RESIDUAL = "residual of the normal equations"
ERROR = "MSE over the optimum"
BITS = "bits over subset selection's"


def decode(_: Bench, k: int, n: int, epsilon: float) -> Measured:
    """Our decoder, and LSMR on the same weighted least squares, solved to at least the same residual."""
    mechanism = dn.ModularSubsetSelection(k, epsilon)
    summary = dn.simulate(mechanism, zipf_counts(k, n))
    residues, system = mechanism.residue_frequencies(summary), mechanism.system
    rows = np.concatenate([np.arange(k) % m + first for m, first in zip(system.moduli, system.offsets, strict=False)])
    root = np.sqrt(np.repeat(system.weights, system.moduli))
    matrix = csr_matrix((root[rows], (rows, np.tile(np.arange(k), len(system.moduli)))))
    wanted = root * residues

    def theirs() -> np.ndarray:
        return np.asarray(lsmr(matrix, wanted, atol=1e-10, btol=1e-10, maxiter=2000)[0])

    def residual(solution: np.ndarray) -> float:
        gradient = matrix.T @ (matrix @ solution - wanted)
        return float(np.linalg.norm(gradient) / np.linalg.norm(matrix.T @ wanted))

    times = medians({OURS: lambda: mechanism.unbiased(summary), LSMR: theirs})
    optimum = 4 * exp(epsilon) / (exp(epsilon) - 1) ** 2
    whole = dn.mechanism("ss", k=k, epsilon=epsilon).report_bits
    figures = {
        OURS: {
            RESIDUAL: residual(mechanism.unbiased(summary)),
            ERROR: mechanism.variance(1 / k) / optimum,
            BITS: mechanism.report_bits / whole,
        },
        LSMR: {RESIDUAL: residual(theirs())},
    }
    return timed(times) | Measured(figures)


GOALS = (Faster(2, (LSMR,)), AtMost(1e-10, RESIDUAL, beside=LSMR), AtMost(1.2, ERROR), AtMost(0.55, BITS))

ROWS = tuple(
    Row(
        f"MSS decoding, k=22,000, n=10,000, eps={epsilon:g}",
        partial(decode, k=22_000, n=10_000, epsilon=epsilon),
        GOALS,
    )
    for epsilon in (2.0, 5.0)
)

"""The data of the benchmarks: synthetic data from fixed seeds, and real histograms where available."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]

DATA_VARIABLE = "DENIABLE_DATA"  # the environment variable that names the folder of real histograms


class DataMissing(Exception):
    """A real histogram is not available; only the synthetic rows are measured."""


def uniform_values(k: int, n: int) -> Counts:
    """One value of 0..k-1 for each of n users."""
    return np.random.default_rng(k).integers(k, size=n)


def zipf_counts(k: int, n: int, exponent: float = 1.3) -> Counts:
    """True counts of n users whose i-th value has weight i^-exponent."""
    weights = np.arange(1, k + 1) ** -exponent
    return np.random.default_rng(k).multinomial(n, weights / weights.sum())


def histogram(folder: Path, name: str, k: int) -> Counts:
    """True counts of a real histogram, its numeric range divided into k bins of equal width."""
    path = folder / name
    if not path.is_file():
        raise DataMissing(f"{name} is not in the data folder (set {DATA_VARIABLE} or --data)")
    with path.open(newline="") as file:
        pairs = [(float(line["value"]), int(line["count"])) for line in csv.DictReader(file)]
    values, counts = np.array([value for value, _ in pairs]), np.array([count for _, count in pairs])
    edges = np.linspace(values.min(), values.max(), k + 1)
    return np.histogram(values, bins=edges, weights=counts)[0].astype(np.int64)

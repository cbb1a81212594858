"""Measure how close forecasts of the standard error come to simulations: `python -m tools.measure_forecasts`.

Draws settings at random: a mechanism, k from 2 to 2,000, epsilon from 0.2 to 6, users from 500 to 5,000; simulates each
with Zipf data until the root mean squared error of `unbiased` over all values is known within about 1%, and prints the
settings whose forecast is farthest from it.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import deniable as dn
from deniable.mechanisms.forecasts.built import NO_FORMULA, forecast
from deniable.planning.verification import zipf_counts

ENOUGH = 5_000  # squared errors per setting: the root of their mean varies by about 1/sqrt(2 * 5000) = 1%
LEAST_RUNS = 30  # the errors of values in one run may be correlated
MOST_VALUES = 2_000


@dataclass(frozen=True)
class Setting:
    """One mechanism for one question."""

    name: str
    k: int
    epsilon: float
    n: int

    def ratio(self, seed: int) -> float:
        """The simulated root mean squared error over the forecast; raises InvalidArgument where it is refused."""
        predicted = math.sqrt(forecast(self.name, self.k, self.epsilon).mean_variance / self.n)
        made = dn.mechanism(self.name, k=self.k, epsilon=self.epsilon)
        squares = []
        for run in range(max(LEAST_RUNS, math.ceil(ENOUGH / (self.k - 1)))):
            # values take the ranks in turn: where errors differ from value to value, the forecast is their average
            true = np.random.default_rng(seed + run).permutation(zipf_counts(self.k, self.n))
            found = made.unbiased(dn.simulate(made, true, seed=seed + run))
            squares.append(((found - true / self.n) ** 2).mean())
        return math.sqrt(float(np.mean(squares))) / predicted


def settings(seed: int, names: list[str] | None = None, most: int = MOST_VALUES) -> Iterator[Setting]:
    """Random settings, without end."""
    drawn = random.Random(seed)
    known = names or [name for name in dn.list_mechanisms() if name not in NO_FORMULA]
    while True:
        k = round(math.exp(drawn.uniform(math.log(2), math.log(most))))
        epsilon = round(math.exp(drawn.uniform(math.log(0.2), math.log(6))), 3)
        yield Setting(drawn.choice(known), k, epsilon, drawn.randint(500, 5_000))


def accepted(seed: int, count: int, names: list[str] | None = None, most: int = MOST_VALUES) -> list[Setting]:
    """The first settings whose mechanism takes them."""
    found: list[Setting] = []
    for setting in settings(seed, names, most):
        try:
            forecast(setting.name, setting.k, setting.epsilon)
        except dn.InvalidArgument:
            continue
        found.append(setting)
        if len(found) == count:
            break
    return found


def main() -> int:
    """Measure, print, and fail if a forecast is off by more than 5%."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    ratios: dict[Setting, float] = {}
    for place, setting in enumerate(accepted(options.seed, options.settings)):
        ratios[setting] = setting.ratio(1000 * place)
        sys.stderr.write(f"\r{place + 1}/{options.settings}")
    sys.stderr.write("\n")
    worst = sorted(ratios, key=lambda setting: -abs(ratios[setting] - 1))
    for setting in worst[:12]:
        sys.stdout.write(f"{ratios[setting]:.3f}  {setting}\n")
    off = [setting for setting in worst if abs(ratios[setting] - 1) > 0.05]
    mean = np.mean(list(ratios.values()))
    sys.stdout.write(f"{len(ratios)} settings, {len(off)} off by more than 5%; mean ratio {mean:.4f}\n")
    return int(bool(off))


if __name__ == "__main__":
    sys.exit(main())

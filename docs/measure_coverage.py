"""Measure how often intervals cover the truth, and write the tables of docs/estimation.md.

Run from the project's root: `python docs/measure_coverage.py`. Seeds are fixed, so the numbers are reproducible.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import deniable as dn
from deniable.estimation.channel import TARGETS
from deniable.estimation.intervals import ScoreIntervals

PAGE = Path(__file__).with_name("estimation.md")
START, END = "<!-- measured coverage: written by docs/measure_coverage.py -->", "<!-- end of measured coverage -->"

METHODS = ("unbiased", "normalized", "projected", "ibu", "mle")  # all other methods build the interval in the same way
LEVEL = 0.95
RUNS = 10_000
SLOW_RUNS = {"ibu": 2_000}  # tens of times the cost of the others, for the same answer as mle
CHUNK = 500  # simulations held in memory at once


@dataclass(frozen=True)
class Setting:
    """A collection to simulate repeatedly: half of the values follow a Zipf law, the other half do not occur."""

    title: str
    k: int
    epsilon: float
    n: int

    def frequencies(self) -> np.ndarray:
        weights = np.arange(1, self.k + 1, dtype=float) ** -1.2
        weights[self.k // 2 :] = 0
        return weights / weights.sum()


SETTINGS = (
    Setting("Small domain", k=50, epsilon=1.0, n=100_000),
    Setting("Large domain", k=1000, epsilon=2.0, n=1_000_000),
    Setting("Rare values", k=1000, epsilon=4.0, n=1000),
)


@dataclass
class Tally:
    """How often the intervals of one method contained the truth."""

    runs: int
    per_value: np.ndarray
    all_at_once: int = 0

    def add(self, one: np.ndarray, every: np.ndarray) -> None:
        self.per_value += one.sum(axis=0)
        self.all_at_once += int(every.all(axis=1).sum())

    def shares(self) -> tuple[float, float, float]:
        """Mean over values, the lowest value, and all values at once."""
        share = self.per_value / self.runs
        return float(share.mean()), float(share.min()), self.all_at_once / self.runs


Results = dict[tuple[str, str, bool], Tally]


def measure(setting: Setting, runs: int = RUNS) -> Results:
    """Coverage by target, method and rule (False: score, True: exact)."""
    mechanism = dn.mechanism("grr", k=setting.k, epsilon=setting.epsilon)
    results: Results = {}
    for target in TARGETS:
        wanted = {method: min(runs, SLOW_RUNS.get(method, runs)) for method in METHODS}
        for method, count in wanted.items():
            for exact in (False, True):
                results[target, method, exact] = Tally(count, np.zeros(setting.k))
        for start, truth, summaries in simulations(mechanism, setting, target, runs):
            for method, count in wanted.items():
                used = summaries[: max(0, count - start)]
                if used:
                    hit = covered(mechanism, used, method, target, truth)
                    for exact in (False, True):
                        results[target, method, exact].add(hit(1, exact), hit(setting.k, exact))
    return results


def simulations(
    mechanism: dn.RandomizedResponse, setting: Setting, target: str, runs: int
) -> Iterator[tuple[int, np.ndarray, list[dn.Summary]]]:
    """Chunks of summaries with the true frequencies that their intervals should contain."""
    f = setting.frequencies()
    source = np.random.default_rng(2026)
    users = np.floor(f * setting.n).astype(np.int64)
    users[0] += setting.n - users.sum()
    for start in range(0, runs, CHUNK):
        chunk = []
        for seed in range(start, min(start + CHUNK, runs)):
            counts = users if target == "users" else source.multinomial(setting.n, f)
            chunk.append(dn.simulate(mechanism, counts, seed=seed))
        yield start, users / setting.n if target == "users" else f, chunk


def covered(
    mechanism: dn.RandomizedResponse,
    summaries: list[dn.Summary],
    method: str,
    target: str,
    truth: np.ndarray,
) -> Callable[[int, bool], np.ndarray]:
    """A function of (values at once, rule) that says which intervals contain the truth, one row per simulation."""
    n = summaries[0].n
    side_by_side = dn.Summary(np.concatenate([summary.counts for summary in summaries]), n, mechanism.fingerprint)
    constrained = None
    if method != "unbiased":
        constrained = np.concatenate([mechanism.estimate(summary, method).frequencies for summary in summaries])
    first, tails = mechanism.unbiased(side_by_side), mechanism.tails(side_by_side)
    rule = ScoreIntervals(first, n, mechanism.noise(target), constrained, tails)

    def hit(at_once: int, exact: bool) -> np.ndarray:
        low, high = rule(1 - (1 - LEVEL) / at_once, False, exact)
        shape = (len(summaries), mechanism.k)
        return (low.reshape(shape) <= truth) & (truth <= high.reshape(shape))

    return hit


def table(setting: Setting, results: Results) -> str:
    """One setting's results as Markdown."""
    mechanism = dn.mechanism("grr", k=setting.k, epsilon=setting.epsilon)
    noise = setting.n * float(mechanism.channel.q)
    heading = (
        f"**{setting.title}**: k = {setting.k}, epsilon = {setting.epsilon:g}, n = {setting.n:,}; "
        f"a value that nobody has is reported {noise:,.2f} times on average."
    )
    lines = [
        heading,
        "",
        "| target | method | runs | score: mean | lowest | all at once | exact: mean | lowest | all at once |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for target, method in dict.fromkeys((target, method) for target, method, _ in results):
        numbers = [*results[target, method, False].shares(), *results[target, method, True].shares()]
        runs = results[target, method, False].runs
        cells = [target, method, f"{runs:,}", *(f"{100 * number:.1f}" for number in numbers)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    runs = parser.parse_args().runs
    tables = "\n\n".join(table(setting, measure(setting, runs)) for setting in SETTINGS)
    before, rest = PAGE.read_text().split(START)
    _, after = rest.split(END)
    PAGE.write_text(f"{before}{START}\n\n{tables}\n\n{END}{after}")


if __name__ == "__main__":
    main()

"""How well the time of one report tells its value, or whether it is true: `python -m benchmarks.timing_of_reports`.

For each mechanism two questions are asked of the time of `randomize_one`, with words drawn beforehand: is the value's
index k - 1 or 0 (or one of two others), and was the coin true or false, where one coin decides? Both kinds of calls
take turns at random. A threshold on the time is chosen on one half of the calls, and the guess rate is how often it is
right on the other half; 50% is chance, and the goal is at most 51%. t is Welch's statistic of the calls up to the
median time, where the machine's own noise is least. A busy machine hides a leak, or shows one that is not there:
compare with an idle one before believing a figure.
"""

from __future__ import annotations

import gc
import os
from dataclasses import dataclass
from time import perf_counter_ns
from typing import Annotated, Any

import numpy as np
import typer

import deniable as dn
from benchmarks.clock import pin
from deniable.randomness.choices import Choices
from deniable.randomness.keystream import Keystream

GOAL = 0.51
CALLS = 100_000  # per kind and question
_FALSE = 2**64 - 1


@dataclass(frozen=True)
class Row:
    """A mechanism, and the two indices that are told apart."""

    name: str
    k: int = 100
    high: int = 99
    low: int = 0


def rows() -> list[Row]:
    """Every mechanism that needs no matrix or blocks, and a few other pairs of indices."""
    needed = {"design", "matrix"}  # parameters that only their users know; matrix compares a word with a row of a table
    names = [name for name in dn.list_mechanisms() if name not in needed]
    return [*map(Row, names), Row("grr", k=2, high=1), Row("grr", low=1), Row("hr", low=1), Row("orr", low=1)]


class _Positions(Choices):
    """Choices that remember where coins are tossed, and their thresholds."""

    def __init__(self, words: Any, overflow: Any) -> None:
        super().__init__(words, overflow)
        self.tossed: list[tuple[int, int]] = []

    def coin(self, threshold: int) -> bool:
        self.tossed.append((self.read, threshold))
        return super().coin(threshold)

    def kept(self, value: int, truth: int, symbols: int) -> int:
        self.tossed.append((self.read, truth))
        return super().kept(value, truth, symbols)


def times(m: Any, calls: int, values: tuple[int, int], question: str) -> tuple[Any, Any] | None:
    """Nanoseconds of each call, and its kind: 1 for the high value or a true coin, else 0; None without a coin."""
    generator = np.random.default_rng(1)
    kinds = generator.integers(0, 2, 2 * calls)
    keystream = Keystream(os.urandom(32))
    probe = _Positions(keystream.stream(0).words(m.stride), keystream.overflow(0))
    m.randomize_one(values[0], probe)
    if question == "coin" and not probe.tossed:
        return None
    place, threshold = probe.tossed[0] if probe.tossed else (0, 1)
    # uniform words from the threshold on, and below it; all drawn here, so that the loop does the same for both kinds
    ranges = ((threshold, _FALSE), (0, threshold - 1))
    coins = np.stack([generator.integers(*each, 2 * calls, np.uint64, endpoint=True) for each in ranges])
    coins = coins[kinds, np.arange(2 * calls)]
    elapsed = np.empty(2 * calls, np.int64)
    for i, kind in enumerate(kinds.tolist()):
        words = Keystream(os.urandom(32)).stream(0).words(m.stride).copy()
        index = values[kind] if question == "value" else values[i % 2]
        if question == "coin":
            words[place] = coins[i]
        overflow = keystream.overflow(0)
        start = perf_counter_ns()
        m.randomize_one(index, Choices(words, overflow))
        elapsed[i] = perf_counter_ns() - start
    return elapsed, kinds


def guess_rate(elapsed: Any, kinds: Any) -> float:
    """How often the best threshold of one half guesses right on the other; kinds count alike however frequent."""
    half = len(elapsed) // 2
    train, test = slice(0, half), slice(half, None)
    limits = np.unique(np.quantile(elapsed[train], np.linspace(0.01, 0.99, 99)))
    best = max(
        (_right(elapsed[train], kinds[train], limit, above), limit, above) for limit in limits for above in (0, 1)
    )
    return _right(elapsed[test], kinds[test], best[1], best[2])


def _right(elapsed: Any, kinds: Any, limit: float, above: int) -> float:
    guesses = (elapsed > limit) == bool(above)
    return float((guesses[kinds == 1].mean() + 1 - guesses[kinds == 0].mean()) / 2)


def welch(elapsed: Any, kinds: Any) -> float:
    """Welch's t of the calls up to the median."""
    kept = elapsed <= np.median(elapsed)
    a, b = (elapsed[kept & (kinds == kind)].astype(float) for kind in (1, 0))
    return float((a.mean() - b.mean()) / np.sqrt(a.var() / len(a) + b.var() / len(b)))


def main(
    calls: Annotated[int, typer.Option(min=2, help="Calls of each kind, for each question.")] = CALLS,
    only: Annotated[str, typer.Option(help="Names of mechanisms, with commas between them; default: all.")] = "",
) -> None:
    """Guess from the time of one report which value it is of, and whether it is true; print a table."""
    chosen = only.split(",") if only else dn.list_mechanisms()
    pin()
    print(
        "| mechanism | k | indices | value: guess | t | coin: guess | t | mean ns |\n|---|--:|---|--:|--:|--:|--:|--:|"
    )
    worst = 0.0
    for row in rows():
        if row.name not in chosen:
            continue
        m = dn.mechanism(row.name, k=row.k, epsilon=1.0)
        cells = []
        gc.disable()
        for question in ("value", "coin"):
            times(m, 200, (row.low, row.high), question)
            measured = times(m, calls, (row.low, row.high), question)
            if measured is None:
                cells.append("- | -")
                continue
            elapsed, kinds = measured
            mean = elapsed.mean()
            rate = guess_rate(elapsed, kinds)
            worst = max(worst, rate)
            cells.append(f"{rate:.1%} | {welch(elapsed, kinds):+.1f}")
        gc.enable()
        where = f"{row.high}, {row.low}"
        print(f"| {row.name} | {row.k} | {where} | {' | '.join(cells)} | {mean:,.0f} |", flush=True)
    print(f"goal: at most {GOAL:.0%}; worst: {worst:.1%}")


if __name__ == "__main__":
    typer.run(main)

"""Playing the guessing game with a mechanism: which values, how many at once, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.auditing.empirical.bounds import information
from deniable.core.arrays import Counts, Indices, Payloads
from deniable.core.domain.open import Open
from deniable.mechanisms.base.mechanism import Mechanism

_PILOTS = 20_000  # reports that choose how many values to guess among, and are not audited
_OPEN = 64  # strings that stand for an open domain
_MOST_AT_ONCE = 256  # values guessed among
_BYTES = 2**25  # of the arrays of one step
_LEAST_TRIALS = 1000  # in a window

Make = Callable[[Any], Payloads]  # from values to reports, as the audited code makes them


@dataclass(frozen=True)
class Values:
    """The values that an audit uses: what their owners call them, and their indices."""

    labels: tuple[Any, ...]
    indices: Indices


@dataclass
class Tally:
    """Guesses and right guesses, by window and by the value that was guessed."""

    size: int
    trials: int
    guesses: Counts  # by value
    right: Counts
    by_window: list[tuple[int, int]]


def values_of(mechanism: Mechanism) -> Values:
    """All values of a closed domain; of an open one, strings that stand for all."""
    domain = mechanism.domain
    labels = [f"string {n}" for n in range(_OPEN)] if isinstance(domain, Open) else domain.all_labels()
    return Values(tuple(labels), np.asarray(domain.indices(labels)))


def fresh_reports(mechanism: Mechanism) -> Make:
    """Reports as users send them: `privatize` without a seed."""
    return lambda values: mechanism.privatize(values).data


def best_size(
    mechanism: Mechanism, values: Values, make: Make, epsilon: float, generator: np.random.Generator
) -> tuple[int, float]:
    """How many values to guess among, and the share of reports that then have a guess, by pilot reports."""
    most = min(len(values.labels), _MOST_AT_ONCE)
    sizes = _candidates(most)
    found = []
    for size in sizes:
        window = generator.permutation(len(values.labels))[:size]
        tally = play(mechanism, values, [window], _PILOTS // 2 if len(sizes) > 8 else _PILOTS, make, generator)
        guessed = int(tally.guesses.sum()) / tally.trials
        found.append((information(epsilon, guessed, size), -size, guessed))
    told, size, guessed = max(found)
    return (-size, guessed) if told > 0 else (2, 0.0)


def _candidates(most: int) -> list[int]:
    sizes, size = [2, 3, 4], 6
    while size < most:
        sizes += [size, size * 4 // 3]
        size *= 2
    # nearly all values at once is no better than all, and makes the windows overlap
    return sorted({size for size in sizes if size <= most * 3 // 4} | {most})


def windows_of(count: int, size: int, trials: int, generator: np.random.Generator) -> list[Indices]:
    """Windows of `size` values that cover the domain in a random order, as far as there are trials for them.

    The last one reaches back, so that all have the same size.
    """
    order = generator.permutation(count)
    number = max(1, min(-(-count // size), trials // _LEAST_TRIALS))
    return [order[min(place * size, count - size) :][:size] for place in range(number)]


def play(
    mechanism: Mechanism,
    values: Values,
    windows: Sequence[Indices],
    trials: int,
    make: Make,
    generator: np.random.Generator,
    progress: Callable[[int], None] | None = None,
) -> Tally:
    """Draw values, make reports, and guess; the values come from a generator that the code does not see."""
    labels, size = np.array(values.labels, dtype=object), len(windows[0])
    if len({type(label) for label in values.labels}) == 1:
        labels = np.array(values.labels)
    guesses, right = np.zeros((2, len(labels)), np.int64)
    by_window = []
    for window, share in zip(windows, _shares(trials, len(windows)), strict=True):
        before = int(guesses.sum()), int(right.sum())
        for n in _steps(share, mechanism.layout.row_bytes + 9 * size):
            drawn = generator.integers(size, size=n)
            guessed = mechanism.guesses(make(labels[window[drawn]]), values.indices[window])
            made = guessed >= 0
            guesses += np.bincount(window[guessed[made]], minlength=len(labels))
            right += np.bincount(window[guessed[made & (guessed == drawn)]], minlength=len(labels))
            if progress is not None:
                progress(n)
        by_window.append((int(guesses.sum()) - before[0], int(right.sum()) - before[1]))
    return Tally(size, trials, guesses, right, by_window)


def _shares(trials: int, windows: int) -> list[int]:
    each, rest = divmod(trials, windows)
    return [each + (place < rest) for place in range(windows)]


def _steps(trials: int, row_bytes: int) -> Iterator[int]:
    most = max(256, min(2**17, _BYTES // row_bytes))
    while trials > 0:
        yield min(trials, most)
        trials -= most

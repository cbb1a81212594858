"""An empirical audit of a black box: look for two values and an event that tell most, then test it on fresh reports.

1. Some reports of each value; for each pair of values, scores fitted on one half, thresholds chosen on the other.
2. The best pairs again, on many fresh reports; one pair, one score, one threshold is chosen.
3. One test of that choice on fresh reports that nothing was learnt from, with all of alpha.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np

from deniable.auditing.empirical.adapters import Adapter
from deniable.auditing.empirical.audit import MOST_TRIALS, EmpiricalAudit
from deniable.auditing.empirical.bounds import epsilon_above
from deniable.auditing.empirical.samples import Samples, most_values
from deniable.auditing.empirical.scores import Event, best_event, fitted
from deniable.core.arrays import Floats, Integers
from deniable.core.errors import InvalidArgument
from deniable.core.validate import positive, strictly_between, whole

_FIRST = 20_000  # reports of each value in the first look
_SECOND = 300_000  # reports of each value of a pair in the second
_KEPT = 5

Pair = tuple[int, int]


def audit_black_box(
    adapter: Adapter,
    trials: int = 4_000_000,
    alpha: float = 1e-9,
    *,
    promised: float | None = None,
    progress: Callable[[int], None] | None = None,
    generator: np.random.Generator | None = None,
) -> EmpiricalAudit:
    """Audit what an adapter sends; the promise is its own unless another is given."""
    trials, alpha = whole(1000, MOST_TRIALS, trials=trials), strictly_between(0, 0.5, alpha=alpha)
    if promised is None and adapter.epsilon is None:
        raise InvalidArgument("promised", "be given", None, "Or set EPSILON in the adapter.")
    claim = positive(promised=adapter.epsilon if promised is None else promised)
    started = time.perf_counter()
    generator = np.random.default_rng() if generator is None else generator
    say = progress or (lambda _: None)
    pairs = _pairs(adapter.values, generator, most_values(adapter))
    samples = Samples(adapter, tuple(sorted({value for pair in pairs for value in pair})))
    chosen = _of_lengths(samples) or _chosen(samples, pairs, trials, alpha)
    guesses = right = 0
    event, pair = chosen if chosen is not None else (None, (0, 1))
    if event is not None and np.isfinite(event.threshold):
        guesses, right = _tested(samples, event, pair, trials, generator, say)
    return EmpiricalAudit(
        what=f"{adapter.name}, a black box with {adapter.values} values",
        promised=claim,
        bound=epsilon_above(right, guesses, 2, alpha),
        alpha=alpha,
        trials=trials,
        guesses=guesses,
        right=right,
        size=2,
        windows=1,
        where="one test on fresh reports, with all of alpha",
        expected=None,
        below="",
        faults=() if samples.uneven is None else ("the length of a report depends on the value",),
        seconds=time.perf_counter() - started,
        how="nothing that tells two values apart was found"
        if not guesses or event is None
        else f"values {pair[0]} and {pair[1]} told apart by {event.name}",
    )


def _pairs(values: int, generator: np.random.Generator, most: int) -> list[Pair]:
    """All pairs of up to `most` values, or of more values neighbours and random pairs."""
    if values <= most:
        return list(combinations(range(values), 2))
    some = generator.permutation(values)[: max(1, most // 2)].tolist()
    near = [(value, value + 1) for value in some if value + 1 < values]
    return near + list(combinations(some, 2)) or [(values - 2, values - 1)]


def _of_lengths(samples: Samples) -> tuple[Event, Pair] | None:
    """Two values that are told apart by how many numbers a report has, if any are."""
    pair = samples.uneven
    if pair is None:
        return None
    one, other = (samples.widths[value] for value in pair)

    def score(rows: Integers) -> Floats:
        return np.full(len(rows), 1.0 if rows.shape[1] == samples.columns(one) else -1.0)

    return Event(f"the length of a report: {one} and {other} numbers", score, 1.0, math.inf), pair


def _chosen(samples: Samples, pairs: list[Pair], trials: int, alpha: float) -> tuple[Event, Pair] | None:
    """The event that promises most, and the values that it tells apart, from two looks."""
    first = samples.held(max(2000, min(_FIRST, trials // 4)), len(samples.values))
    kept = sorted(_looked(samples, pairs, first, trials, alpha), key=lambda found: -found[0].promise)[:_KEPT]
    second = samples.held(max(2000, min(_SECOND, trials // 8)), 2)
    return max(
        (event for _, pair in kept for event in _events(samples, pair, second, trials, alpha)),
        key=lambda found: found[0].promise,
        default=None,
    )


def _looked(samples: Samples, pairs: list[Pair], n: int, trials: int, alpha: float) -> list[tuple[Event, Pair]]:
    """The best event of every pair, from a first look."""
    kept = {value: samples.rows(value, n) for value in samples.values}
    found = []
    for pair in pairs:
        one, other = (kept[value] for value in pair)
        events = list(_of_pair(one, other, trials, alpha))
        if events:
            found.append((max(events, key=lambda event: event.promise), pair))
    return found


def _events(samples: Samples, pair: Pair, n: int, trials: int, alpha: float) -> Iterator[tuple[Event, Pair]]:
    one, other = (samples.rows(value, n) for value in pair)
    return ((event, pair) for event in _of_pair(one, other, trials, alpha))


def _of_pair(one: Integers, other: Integers, trials: int, alpha: float) -> Iterator[Event]:
    half = len(one) // 2
    for name, score in fitted(one[:half], other[:half]):
        yield best_event(name, score, one[half:], other[half:], trials, alpha)


def _tested(
    samples: Samples, event: Event, pair: Pair, trials: int, generator: np.random.Generator, say: Callable[[int], None]
) -> tuple[int, int]:
    """Guesses and right guesses in fresh reports of the two values, each drawn by a fair coin."""
    guesses = right = 0
    for n in samples.steps(trials):
        of_first = int(generator.binomial(n, 0.5))
        for value, count, sign in ((pair[0], of_first, 1), (pair[1], n - of_first, -1)):
            if count:
                guessed = event.guesses(samples.rows(value, count))
                guesses += int(np.count_nonzero(guessed))
                right += int(np.count_nonzero(guessed == sign))
        say(n)
    return guesses, right

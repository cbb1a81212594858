"""An empirical audit of a black box: look for two values and an event that tell most, then test it on fresh reports.

1. Some reports of each value; for each pair of values, scores fitted on one half, thresholds chosen on the other.
2. The best pairs again, on many fresh reports; one pair, one score, one threshold is chosen.
3. One test of that choice on fresh reports that nothing was learnt from, with all of alpha.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np

from deniable.auditing.empirical.adapters import Adapter
from deniable.auditing.empirical.audit import MOST_TRIALS, EmpiricalAudit
from deniable.auditing.empirical.bounds import epsilon_above
from deniable.auditing.empirical.scores import Event, best_event, fitted
from deniable.core.arrays import Integers
from deniable.core.errors import InvalidArgument
from deniable.core.validate import positive, strictly_between, whole

_FIRST = 20_000  # reports of each value in the first look
_SECOND = 300_000  # reports of each value of a pair in the second
_PAIRS = 2016  # pairs of values looked at: all of 64 values
_KEPT = 5
_STEP = 2**17
_CELLS = 2**28  # numbers kept in the first look

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
    width = adapter.rows(0, 1).shape[1] + (adapter.values if adapter.supports else 0)
    first = max(2000, min(_FIRST, trials // 4, _CELLS // (width * adapter.values)))
    looked = _looked(adapter, _pairs(adapter.values, generator), first, trials, alpha)
    kept = sorted(looked, key=lambda found: -found[0].promise)[:_KEPT]
    second = max(2000, min(_SECOND, trials // 8))
    chosen = max(
        (event for _, pair in kept for event in _events(adapter, pair, second, trials, alpha)),
        key=lambda found: found[0].promise,
        default=None,
    )
    guesses = right = 0
    event, pair = chosen if chosen is not None else (None, (0, 1))
    if event is not None and np.isfinite(event.threshold):
        guesses, right = _tested(adapter, event, pair, trials, generator, say)
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
        faults=(),
        seconds=time.perf_counter() - started,
        how="nothing that tells two values apart was found"
        if not guesses or event is None
        else f"values {pair[0]} and {pair[1]} told apart by {event.name}",
    )


def _rows(adapter: Adapter, value: int, n: int) -> Integers:
    """Reports with what they support as further columns, where the adapter can tell."""
    made = [adapter.rows(value, min(_STEP, n - start)) for start in range(0, n, _STEP)]
    rows = np.concatenate(made)
    marks = adapter.marks(rows)
    return rows if marks is None else np.concatenate([rows, marks.astype(np.int64)], axis=1)


def _pairs(values: int, generator: np.random.Generator) -> list[Pair]:
    """All pairs, or of many values neighbours and random pairs."""
    if values * (values - 1) // 2 <= _PAIRS:
        return list(combinations(range(values), 2))
    some = generator.permutation(values)[:32].tolist()
    near = [(value, value + 1) for value in some if value + 1 < values]
    return near + list(combinations(some, 2))


def _looked(adapter: Adapter, pairs: list[Pair], n: int, trials: int, alpha: float) -> list[tuple[Event, Pair]]:
    """The best event of every pair, from a first look."""
    kept = {value: _rows(adapter, value, n) for value in sorted({value for pair in pairs for value in pair})}
    found = []
    for pair in pairs:
        one, other = (kept[value] for value in pair)
        events = list(_of_pair(one, other, trials, alpha))
        if events:
            found.append((max(events, key=lambda event: event.promise), pair))
    return found


def _events(adapter: Adapter, pair: Pair, n: int, trials: int, alpha: float) -> Iterator[tuple[Event, Pair]]:
    one, other = (_rows(adapter, value, n) for value in pair)
    return ((event, pair) for event in _of_pair(one, other, trials, alpha))


def _of_pair(one: Integers, other: Integers, trials: int, alpha: float) -> Iterator[Event]:
    half = len(one) // 2
    for name, score in fitted(one[:half], other[:half]):
        yield best_event(name, score, one[half:], other[half:], trials, alpha)


def _tested(
    adapter: Adapter, event: Event, pair: Pair, trials: int, generator: np.random.Generator, say: Callable[[int], None]
) -> tuple[int, int]:
    """Guesses and right guesses in fresh reports of the two values, each drawn by a fair coin."""
    guesses = right = 0
    for start in range(0, trials, _STEP):
        n = min(_STEP, trials - start)
        of_first = int(generator.binomial(n, 0.5))
        for value, count, sign in ((pair[0], of_first, 1), (pair[1], n - of_first, -1)):
            if count:
                guessed = event.guesses(_rows(adapter, value, count))
                guesses += int(np.count_nonzero(guessed))
                right += int(np.count_nonzero(guessed == sign))
        say(n)
    return guesses, right

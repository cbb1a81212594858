"""An empirical audit of a mechanism: the game over all its values, and the tests of what the game cannot see."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deniable.auditing.empirical.audit import MOST_TRIALS, EmpiricalAudit
from deniable.auditing.empirical.bounds import epsilon_above, expected_bound, too_few
from deniable.auditing.empirical.companions import companions
from deniable.auditing.empirical.game import Make, Tally, Values, best_size, fresh_reports, play, values_of, windows_of
from deniable.core.validate import strictly_between, whole
from deniable.mechanisms.base.mechanism import Mechanism

_POOLED = 0.9  # of alpha for all guesses together; windows and single values share the rest
FALSE_ALARM = 1e-10  # how often sound code is said to tell less than it should, at most
_UNEVEN = ("matrix",)  # channels whose reports do not all tell the same


@dataclass(frozen=True)
class Source:
    """Where reports come from, if not from `privatize`: how they are made, and what to call it."""

    make: Make
    what: str = ""


def audit_mechanism(
    mechanism: Mechanism,
    trials: int = 10_000_000,
    alpha: float = 1e-9,
    *,
    promised: float | None = None,
    source: Source | None = None,
    progress: Callable[[int], None] | None = None,
    generator: np.random.Generator | None = None,
) -> EmpiricalAudit:
    """Audit the reports that a mechanism makes, by so many trials besides the pilots.

    The promise is the epsilon of its guarantee, unless another one is given. With a source, only its reports are
    audited; without, the encoded bytes and the randomness of `privatize` are looked at too.
    """
    trials, alpha = whole(1000, MOST_TRIALS, trials=trials), strictly_between(0, 0.5, alpha=alpha)
    started = time.perf_counter()
    spent = mechanism.guarantee().epsilon
    claim = spent if promised is None else promised
    generator = np.random.default_rng() if generator is None else generator
    make = fresh_reports(mechanism) if source is None else source.make
    values = values_of(mechanism)
    size, guessed = best_size(mechanism, values, make, claim, generator)
    windows = windows_of(len(values.labels), size, trials, generator)
    tally = play(mechanism, values, windows, trials, make, generator, progress)
    bound, where = _bound(tally, values, alpha)
    faults = () if source is not None else tuple(companions(mechanism, values, generator))
    return EmpiricalAudit(
        what=f"{mechanism.name}, epsilon {mechanism.epsilon:g}" + (f", {source.what}" if source else ""),
        promised=claim,
        bound=bound,
        alpha=alpha,
        trials=trials,
        guesses=int(tally.guesses.sum()),
        right=int(tally.right.sum()),
        size=size,
        windows=len(windows),
        where=where,
        expected=expected_bound(spent, trials, guessed, size, alpha),
        below=_below(mechanism, tally, values, spent),
        faults=faults,
        seconds=time.perf_counter() - started,
    )


def _bound(tally: Tally, values: Values, alpha: float) -> tuple[float, str]:
    """The best of several bounds that share alpha: all guesses together, each window, each value that was guessed."""
    s = tally.size
    best = epsilon_above(int(tally.right.sum()), int(tally.guesses.sum()), s, _POOLED * alpha)
    where = f"all guesses together, one limit of Clopper and Pearson at {_POOLED:.0%} of alpha"
    tested = np.flatnonzero(tally.guesses)
    each = (1 - _POOLED) * alpha / max(1, len(tested) + len(tally.by_window))
    for value in tested.tolist():
        found = epsilon_above(int(tally.right[value]), int(tally.guesses[value]), s, each)
        if found > best:
            best, where = found, f"the guesses of value {values.labels[value]!r}: its reports stand out"
    for place, (guesses, right) in enumerate(tally.by_window):
        found = epsilon_above(right, guesses, s, each)
        if found > best:
            best, where = found, f"window {place + 1} of {len(tally.by_window)}"
    return best, where


def _below(mechanism: Mechanism, tally: Tally, values: Values, epsilon: float) -> str:
    """How guesses are right less often than they should be, where all reports tell the same; empty if they are not."""
    if mechanism.name in _UNEVEN or getattr(mechanism, "hashes", 1) > 1:
        return ""
    guesses, right = int(tally.guesses.sum()), int(tally.right.sum())
    if not guesses:
        return "no report supports one value alone: guesses were impossible"
    tested = np.flatnonzero(tally.guesses)
    level = FALSE_ALARM / (1 + len(tested))
    chance = too_few(right, guesses, epsilon, tally.size)
    if chance < level:
        return f"guesses are right too rarely for epsilon {epsilon:.6g}: by chance {_once(chance)}"
    for value in tested.tolist():
        chance = too_few(int(tally.right[value]), int(tally.guesses[value]), epsilon, tally.size)
        if chance < level:
            return f"guesses of value {values.labels[value]!r} are right too rarely: by chance {_once(chance)}"
    return ""


def _once(chance: float) -> str:
    return f"once in 10^{-math.log10(chance):.0f} audits" if chance > 0 else "never"

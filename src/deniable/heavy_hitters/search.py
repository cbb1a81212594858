"""The server's side: from the first bytes to whole strings, one group of users after the other.

Level by level, the prefixes that stand out are extended by every possible continuation, and these are the candidates of
the next level. A string that ends is looked for at its own level and at all later ones, where users who have it report
it too; the estimates of different groups are independent, and are weighted by their errors. At the end all strings that
were ever candidates are tested together, so that at most a share `rate` of those listed is absent, on average
(Benjamini and Hochberg 1995). The candidates at a level depend on earlier groups only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.core.arrays import Floats, Indices
from deniable.core.errors import EmptySummary
from deniable.core.hashing import digest
from deniable.core.validate import strictly_between
from deniable.estimation.presence import p_values, score_at, significant
from deniable.heavy_hitters.collected import HitterSummary
from deniable.heavy_hitters.findings import Findings, LevelNote
from deniable.heavy_hitters.levels import KEEP, decode_level
from deniable.heavy_hitters.selection import found_from
from deniable.heavy_hitters.strings import Alphabet, pending

if TYPE_CHECKING:
    from deniable.heavy_hitters.protocol import HeavyHitters

POWER = 0.9


@dataclass
class _Ended:
    """Strings that have ended, and sums over the levels at which they were looked for, with w = n / noise."""

    texts: list[bytes]
    weights: Floats  # sum of w
    estimates: Floats  # sum of w times the estimate
    own_noise: Floats  # sum of w^2 / n times the noise that a user adds to the estimate of their own string
    squares: Floats  # sum of w^2 / n
    skewness: Floats  # sum of w^1.5 times the skewness; divided by (sum of w)^1.5, the skewness of the weighted mean

    def join(self, texts: list[bytes]) -> None:
        self.texts = self.texts + texts
        more = np.zeros(len(texts))
        for name in ("weights", "estimates", "own_noise", "squares", "skewness"):
            setattr(self, name, np.concatenate([getattr(self, name), more]))

    def add(self, estimates: Floats, noise: Floats, own_noise: Floats, n: int, skewness: float) -> None:
        weight = n / noise
        self.weights = self.weights + weight
        self.estimates = self.estimates + weight * estimates
        self.own_noise = self.own_noise + weight**2 * own_noise / n
        self.squares = self.squares + weight**2 / n
        self.skewness = self.skewness + weight**1.5 * skewness


def find(
    protocol: HeavyHitters,
    summary: HitterSummary,
    alphabet: Alphabet,
    rate: float,
    target: str,
    budget: int,
    progress: Callable[[str, float], None] | None,
) -> Findings:
    """Find the frequent strings, as `HeavyHitters.find` does."""
    rate = strictly_between(0, 1, rate=rate)
    for number, part in enumerate(summary.levels):
        if part.n == 0:
            raise EmptySummary(f"level {number} has no reports; heavy hitters need reports from every group")
    ended = _Ended([], *(np.zeros(0) for _ in range(5)))
    alive, reached = [b""], np.ones(1)
    notes: list[LevelNote] = []
    passed: list[tuple[float, float, float, int]] = []  # threshold, noise, own noise, n
    before = 0
    for number, (level, part) in enumerate(zip(protocol.levels, summary.levels, strict=True)):
        length = protocol.lengths[number]
        share = number / len(protocol.levels)

        def notify(message: str, part_done: float, share: float = share, length: int = length) -> None:
            if progress is not None:
                progress(f"{length} bytes: {message}", share + part_done / len(protocol.levels))

        notify("listing candidates", 0.0)
        complete, prefixes, used = _extended(alive, alphabet, before, length, protocol.max_bytes, budget)
        if used < len(alive):  # the budget, not the test, decided which prefixes were extended
            passed[-1] = (float(reached[used]), *passed[-1][1:])
        ended.join(complete)
        sought = prefixes + ended.texts
        notify(f"hashing {len(sought):,} candidates", 0.1)
        found = decode_level(
            level,
            part,
            _digests(sought, level.domain.key),  # type: ignore[attr-defined]
            len(ended.texts),
            lambda done: notify(f"estimating {len(sought):,} candidates", 0.3 + 0.7 * done),  # noqa: B023
        )
        cut = len(prefixes)
        noise = found.noise[cut:]
        ended.add(found.estimates[cut:], noise, level.own_noise(noise), part.n, found.skewness)
        kept = np.flatnonzero(found.present[:cut])
        kept = kept[np.argsort(-found.estimates[kept], kind="stable")]
        alive, reached = [prefixes[place] for place in kept], found.estimates[kept]
        typical = float(np.median(found.noise))
        score = score_at(_chance(int(found.present.sum()), len(sought), KEEP), found.skewness)
        threshold = float(score) * (typical / part.n) ** 0.5
        notes.append(LevelNote(length, part.n, len(sought), used, len(alive), threshold, found.mass, found.mass_error))
        passed.append((threshold, typical, float(level.own_noise(typical)), part.n))
        before = length
    return _listed(protocol, summary, alphabet, rate, target, ended, notes, passed)


def _extended(
    alive: list[bytes], alphabet: Alphabet, before: int, length: int, max_bytes: int, budget: int
) -> tuple[list[bytes], list[bytes], int]:
    """Extend the prefixes: strings that end, longer prefixes, and the number of prefixes the budget had room for."""
    complete: list[bytes] = []
    longer: list[bytes] = []
    used = 0
    for prefix in alive:
        ends, more = alphabet.extensions(before, pending(prefix), length, max_bytes)
        if used and len(longer) + len(more) > budget:
            break
        complete += [prefix + text for text in ends]
        longer += [prefix + text for text in more]
        used += 1
    return complete, longer, used


def _digests(texts: list[bytes], key: str) -> Indices:
    coded = key.encode()
    return np.fromiter((digest(text, coded) for text in texts), np.int64, len(texts))


def _chance(passed: int, tested: int, rate: float) -> float:
    """The p-value that one more candidate would have needed to pass."""
    return min(rate * (passed + 1) / tested, 1 - 1e-9)


def _listed(
    protocol: HeavyHitters,
    summary: HitterSummary,
    alphabet: Alphabet,
    rate: float,
    target: str,
    ended: _Ended,
    notes: list[LevelNote],
    passed: list[tuple[float, float, float, int]],
) -> Findings:
    n = summary.n
    estimates = ended.estimates / ended.weights
    skewness = ended.skewness / ended.weights**1.5
    present = significant(p_values(estimates, n / ended.weights, n, skewness), rate)
    chance = _chance(int(present.sum()), len(present), rate)
    at = np.flatnonzero(present)
    x, weights = estimates[at], ended.weights[at]
    # Var = sum a^2 (noise + own_noise f + f(1 - f))/n with a = w / sum w; groups are drawn without replacement from
    # the users who reported, which removes f(1 - f)/n if the target is the frequency among those users
    f = np.clip(x, 0.0, 1.0)
    sampling = f * (1 - f) * (ended.squares[at] / weights**2 - (1 / n if target == "users" else 0.0))
    variance = 1 / weights + ended.own_noise[at] / weights**2 * f + np.maximum(sampling, 0.0)
    return Findings(
        texts=tuple(ended.texts[place] for place in at),
        estimates=x,
        errors=np.sqrt(variance),
        thresholds=np.minimum(score_at(chance, skewness[at]) / np.sqrt(weights), x),
        n=n,
        rate=rate,
        target=target,
        tested=len(present),
        notes=tuple(notes),
        found_from=_detectable(protocol, passed, float(score_at(chance, float(np.median(skewness))))),
        alphabet=alphabet.characters,
        fingerprint=protocol.fingerprint,
        simulated=summary.simulated,
    )


def _detectable(
    protocol: HeavyHitters, passed: list[tuple[float, float, float, int]], score: float
) -> tuple[tuple[int, float], ...]:
    """Return pairs of a length in bytes and the smallest frequency of such strings found with probability 90%."""

    def error(noise: float, own_noise: float, n: float) -> Callable[[float], float]:
        return lambda f: (max(noise + (own_noise + 1) * f - f * f, 0.0) / n) ** 0.5

    found = []
    for number, length in enumerate(protocol.lengths):
        steps = [(threshold, error(noise, own_noise, n)) for threshold, noise, own_noise, n in passed[:number]]
        weight = sum(n / noise for _, noise, _, n in passed[number:])
        own_part = sum((n / noise) ** 2 * own_noise / n for _, noise, own_noise, n in passed[number:]) / weight**2
        squares = sum((n / noise) ** 2 / n for _, noise, _, n in passed[number:]) / weight**2
        steps.append(
            (
                score / weight**0.5,
                lambda f, w=weight, o=own_part, s=squares: (max(1 / w + o * f + s * f * (1 - f), 0.0)) ** 0.5,  # type: ignore[misc]
            )
        )
        found.append((length - 1, found_from(steps, POWER)))
    return tuple(found)

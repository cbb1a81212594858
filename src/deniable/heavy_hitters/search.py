"""The server's half: from the first bytes to whole strings, one group of users after the other.

Level by level, the beginnings that stand out are extended by all that may follow, and these are the candidates of the
next level. A string that ends is looked for at its own and at all later levels, where users who have it report it
too; estimates of groups are independent, and are weighed by their errors. At the end all strings that were ever
candidates are tested together, so that a share of at most `rate` of those listed is absent, on average
(Benjamini and Hochberg 1995). Which strings are candidates at a level depends on earlier groups only.
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
    """Strings that have ended, and sums over the levels they were looked for at, weighed by w = n / noise."""

    texts: list[bytes]
    weights: Floats  # sum of w
    estimates: Floats  # sum of w times the estimate
    own: Floats  # sum of w^2 / n times what a user adds to the noise of their own string
    spread: Floats  # sum of w^2 / n
    leaning: Floats  # sum of w^1.5 times the skewness, which is that of the whole once divided by (sum of w)^1.5

    def join(self, texts: list[bytes]) -> None:
        self.texts = self.texts + texts
        more = np.zeros(len(texts))
        for name in ("weights", "estimates", "own", "spread", "leaning"):
            setattr(self, name, np.concatenate([getattr(self, name), more]))

    def add(self, first: Floats, noise: Floats, own: Floats, n: int, skewness: float) -> None:
        weight = n / noise
        self.weights = self.weights + weight
        self.estimates = self.estimates + weight * first
        self.own = self.own + weight**2 * own / n
        self.spread = self.spread + weight**2 / n
        self.leaning = self.leaning + weight**1.5 * skewness


def find(
    protocol: HeavyHitters,
    summary: HitterSummary,
    alphabet: Alphabet,
    rate: float,
    target: str,
    budget: int,
    progress: Callable[[str, float], None] | None,
) -> Findings:
    """What `HeavyHitters.find` gives."""
    rate = strictly_between(0, 1, rate=rate)
    for number, part in enumerate(summary.levels):
        if part.n == 0:
            raise EmptySummary(f"level {number} has no reports: heavy hitters need some from every group")
    ended = _Ended([], *(np.zeros(0) for _ in range(5)))
    alive, reached = [b""], np.ones(1)
    notes: list[LevelNote] = []
    passed: list[tuple[float, float, float, int]] = []  # threshold, noise, own noise, n
    before = 0
    for number, (level, part) in enumerate(zip(protocol.levels, summary.levels, strict=True)):
        length = protocol.lengths[number]
        share = number / len(protocol.levels)

        def said(doing: str, part_done: float, share: float = share, length: int = length) -> None:
            if progress is not None:
                progress(f"{length} bytes: {doing}", share + part_done / len(protocol.levels))

        said("listing candidates", 0.0)
        stopped, going, used = _extended(alive, alphabet, before, length, protocol.max_bytes, budget)
        if used < len(alive):  # the budget, not chance, decided which beginnings went on
            passed[-1] = (float(reached[used]), *passed[-1][1:])
        ended.join(stopped)
        sought = going + ended.texts
        said(f"hashing {len(sought):,} candidates", 0.1)
        found = decode_level(
            level,
            part,
            _digests(sought, level.domain.key),  # type: ignore[attr-defined]
            len(ended.texts),
            lambda done: said(f"estimating {len(sought):,} candidates", 0.3 + 0.7 * done),  # noqa: B023
        )
        cut = len(going)
        ended.add(found.first[cut:], found.noise[cut:], level.own_noise(found.noise[cut:]), part.n, found.skewness)
        kept = np.flatnonzero(found.present[:cut])
        kept = kept[np.argsort(-found.first[kept], kind="stable")]
        alive, reached = [going[place] for place in kept], found.first[kept]
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
    """What may follow the beginnings: strings that end, longer beginnings; and how many the budget had room for."""
    stopped: list[bytes] = []
    going: list[bytes] = []
    used = 0
    for beginning in alive:
        ends, more = alphabet.extensions(before, pending(beginning), length, max_bytes)
        if used and len(going) + len(more) > budget:
            break
        stopped += [beginning + text for text in ends]
        going += [beginning + text for text in more]
        used += 1
    return stopped, going, used


def _digests(texts: list[bytes], key: str) -> Indices:
    coded = key.encode()
    return np.fromiter((digest(text, coded) for text in texts), np.int64, len(texts))


def _chance(passed: int, family: int, rate: float) -> float:
    """How unlikely one more candidate would have had to be."""
    return min(rate * (passed + 1) / family, 1 - 1e-9)


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
    skewness = ended.leaning / ended.weights**1.5
    present = significant(p_values(estimates, n / ended.weights, n, skewness), rate)
    chance = _chance(int(present.sum()), len(present), rate)
    at = np.flatnonzero(present)
    x, weights = estimates[at], ended.weights[at]
    # Var = sum a^2 (noise + own f + f(1 - f))/n with a = w / sum w; groups are drawn without replacement among the
    # users who reported, whose frequencies are then known as well as f(1 - f)/n allows
    f = np.clip(x, 0.0, 1.0)
    sampling = f * (1 - f) * (ended.spread[at] / weights**2 - (1 / n if target == "users" else 0.0))
    variance = 1 / weights + ended.own[at] / weights**2 * f + np.maximum(sampling, 0.0)
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
    """For strings of up to so many bytes, the smallest frequency that is found with a chance of 90%."""

    def error(noise: float, own: float, n: float) -> Callable[[float], float]:
        return lambda f: (max(noise + (own + 1) * f - f * f, 0.0) / n) ** 0.5

    found = []
    for number, length in enumerate(protocol.lengths):
        steps = [(threshold, error(noise, own, n)) for threshold, noise, own, n in passed[:number]]
        weight = sum(n / noise for _, noise, _, n in passed[number:])
        own = sum((n / noise) ** 2 * own / n for _, noise, own, n in passed[number:]) / weight**2
        spread = sum((n / noise) ** 2 / n for _, noise, _, n in passed[number:]) / weight**2
        steps.append(
            (
                score / weight**0.5,
                lambda f, w=weight, o=own, s=spread: (max(1 / w + o * f + s * f * (1 - f), 0.0)) ** 0.5,  # type: ignore[misc]
            )
        )
        found.append((length - 1, found_from(steps, POWER)))
    return tuple(found)

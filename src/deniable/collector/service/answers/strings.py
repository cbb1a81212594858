"""Strings of open domains: candidates that somebody names, and heavy hitters that nobody listed."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

import numpy as np

from deniable.collector.service.answers.estimating import answer_rows
from deniable.collector.service.answers.pool import Pool, Totals
from deniable.collector.service.directory import Desk
from deniable.collector.service.questions import HITTERS, OPEN
from deniable.core.errors import shown
from deniable.core.summary import Summary
from deniable.heavy_hitters.protocol import HeavyHitters
from deniable.mechanisms.cohorts.base import CohortMechanism
from deniable.wire.refusals import Refused

MOST_CANDIDATES = 100_000


def candidates(
    desk: Desk,
    pool: Pool,
    totals: Totals,
    sought: list[str],
    *,
    method: str | None,
    target: str,
    level: float,
    rate: float,
    complete: bool,
    top: int | None,
) -> dict[str, Any]:
    """Which candidates are present, and how many users have other strings."""
    fingerprint, summary = totals.only(pool)
    asked = desk.spec(fingerprint)
    if asked.kind != OPEN or not isinstance(asked.question, CohortMechanism) or not isinstance(summary, Summary):
        raise Refused("bad-argument", "the collection lists its values, or finds strings by itself: no candidates")
    if len(set(sought)) < len(sought):
        repeated = next(each for each, times in Counter(sought).items() if times > 1)
        raise Refused("bad-argument", f"candidates must be different, got {shown(repeated)} more than once")
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        answer = asked.question.estimate(summary, method, target=target, candidates=sought, complete=complete)
    there = [row for row in answer.present(rate, level) if complete or row.label != _unlisted(answer)]
    last = None if complete else answer_rows(answer, level, False, np.array([len(answer) - 1]))[0]
    return {
        **answer.facts(level),
        "rate": rate,
        "promise": f"On average, at most {100 * rate:g}% of the strings called present are absent.",
        "candidates": len(sought),
        "found": len(there),
        "present": [row._asdict() for row in there[:top]],
        "unlisted": last,
        "warnings": [str(each.message) for each in warned],
    }


def _unlisted(answer: Any) -> object:
    return answer.domain.label(len(answer) - 1)


def heavy_hitters(
    desk: Desk, pool: Pool, totals: Totals, *, rate: float, target: str, level: float, top: int | None
) -> dict[str, Any]:
    """The frequent strings."""
    fingerprint, summary = totals.only(pool)
    asked = desk.spec(fingerprint)
    if asked.kind != HITTERS or not isinstance(asked.question, HeavyHitters):
        raise Refused("bad-argument", "the spec of this collection does not search for strings")
    return asked.question.find(summary, rate=rate, target=target).to_dict(level, top)  # type: ignore[arg-type]

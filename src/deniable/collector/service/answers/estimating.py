"""Estimates of a closed domain: of a selection, of one value bucket by bucket, of one selection against another."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from deniable.collector.service.answers.pool import Pool, Totals
from deniable.collector.service.answers.selection import Selection
from deniable.collector.service.directory import Desk
from deniable.collector.service.questions import CLOSED
from deniable.collector.store.records import Kept
from deniable.core.arrays import Floats, Integers
from deniable.core.estimate import Estimate, Row
from deniable.derived.alike import Alike, alike
from deniable.derived.labels import place_of
from deniable.grouping.combined import METHODS, combine_specs
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.wire.buckets import hour_text
from deniable.wire.refusals import Refused

_WHOLE = re.compile("-?[0-9]{1,19}")
_TESTED = 2_000  # values up to which a difference comes with a test of all of them
Rows = list[dict[str, Any]]


class Wanted(NamedTuple):
    """How to estimate, and what of it to show."""

    method: str | None = None
    target: str = "users"
    level: float = 0.95
    simultaneous: bool | None = None
    top: int | None = None
    search: str | None = None


def estimate_of(desk: Desk, pool: Pool, totals: Totals, method: str | None, target: str) -> Estimate:
    """The estimate of a pool, of all its specs together."""
    if next(iter(desk.specs.values())).kind != CLOSED:
        hint = "Ask for candidates, or heavy-hitters."
        raise Refused("bad-argument", f"the collection has no list of values to estimate. {hint}")
    parts = [(desk.spec(fingerprint).question, summary) for fingerprint, summary in totals.of(pool).items()]
    return combine_specs(parts, method, target=target)  # type: ignore[arg-type]


def about(pool: Pool, selection: Selection) -> dict[str, Any]:
    """What every answer says about the counts behind it."""
    first, last = pool.ends
    chosen = {
        each.name: [each.labels[place] for place in sorted(places)]
        for each, places in zip(pool.desk.settings.segments, selection.segments, strict=True)
        if places is not None
    }
    specs = {each.cell.fingerprint for each in pool.told}
    return {
        "collection": pool.desk.name,
        "from": first,
        "to": last,
        "segments": chosen,
        "specs": [row.fingerprint for row in pool.desk.rows if row.fingerprint in specs],
        "withheld": pool.withheld,
    }


def document(answer: Estimate, wanted: Wanted) -> dict[str, Any]:
    """An estimate as plain data, a row for each value."""
    places, together = _chosen(answer, wanted)
    return {**_facts(answer, wanted, together), "values": answer_rows(answer, wanted.level, together, places)}


def columns(answer: Estimate, wanted: Wanted, methods: Sequence[str]) -> dict[str, Any]:
    """An estimate as plain data, a list for each column, which is light for many values; and the methods there are."""
    places, together = _chosen(answer, wanted)
    labels, arrays = _columns(answer, wanted.level, together, places)
    named = dict(zip(Row._fields, ([str(label) for label in labels], *(each.tolist() for each in arrays)), strict=True))
    return {**_facts(answer, wanted, together), "methods": list(methods), "columns": named}


def methods_of(desk: Desk, pool: Pool) -> Sequence[str]:
    """The methods by which a pool can be estimated."""
    specs = {each.cell.fingerprint for each in pool.told}
    only = desk.spec(specs.pop()).question if len(specs) == 1 else None
    return only.methods if isinstance(only, Mechanism) else METHODS


def _facts(answer: Estimate, wanted: Wanted, together: bool) -> dict[str, Any]:
    return {
        **answer.facts(wanted.level),
        "simultaneous": together,
        "visible_from": answer.visible(wanted.level, simultaneous=together),
        "matches": len(answer) if wanted.search is None else len(_found(answer, wanted.search)),
    }


def table(answer: Estimate, wanted: Wanted) -> Any:
    """An estimate as an Arrow table."""
    places, together = _chosen(answer, wanted)
    whole = answer.to_arrow(wanted.level, simultaneous=together)
    return whole if places is None else whole.take(places)


def _found(answer: Estimate, text: str) -> Integers:
    sought = text.casefold()
    labels = answer.domain.all_labels()
    return np.array([place for place, label in enumerate(labels) if sought in str(label).casefold()], np.int64)


def _chosen(answer: Estimate, wanted: Wanted) -> tuple[Integers | None, bool]:
    """The places of the values to show, None for all; and whether intervals hold for all at once."""
    picked = wanted.top is not None
    together = picked if wanted.simultaneous is None else wanted.simultaneous
    places = None if wanted.search is None else _found(answer, wanted.search)
    if wanted.top is not None:
        among = np.arange(len(answer)) if places is None else places
        places = among[np.lexsort((among, -answer.frequencies[among]))][: wanted.top]
    return places, together


def answer_rows(answer: Estimate, level: float, together: bool, places: Integers | None = None) -> Rows:
    """The rows of an estimate as plain data."""
    labels, arrays = _columns(answer, level, together, places)
    return [
        {"label": label, "frequency": frequency, "std_error": error, "low": least, "high": most, "users": users}
        for label, frequency, error, least, most, users in zip(labels, *(each.tolist() for each in arrays), strict=True)
    ]


def _columns(
    answer: Estimate, level: float, together: bool, places: Integers | None
) -> tuple[Sequence[Any], list[Floats]]:
    """The labels and columns of an estimate, at these places."""
    low, high = answer.interval_rule(level, together, None, places)
    found = [answer.frequencies, answer.std_error, answer.counts]
    labels: Sequence[Any] = answer.domain.all_labels()
    if places is not None:
        found = [column[places] for column in found]
        labels = [labels[place] for place in places.tolist()]
    return labels, [*found[:2], low, high, found[2]]


def trend(desk: Desk, kept: Sequence[Kept], totals: Totals, value: str, wanted: Wanted) -> Rows:
    """One value in each bucket of these cells; where too little is published, nulls."""
    rows: Rows = []
    buckets: dict[int, list[Kept]] = {}
    for each in kept:
        buckets.setdefault(each.cell.bucket, []).append(each)
    for bucket in sorted(buckets):
        pool = Pool(desk, buckets[bucket])
        row: dict[str, Any] = {"bucket": bucket, "time": hour_text(bucket), "n": 0, "withheld": pool.withheld}
        row |= dict.fromkeys(Row._fields[1:])
        if pool.n >= desk.settings.minimum:
            answer = estimate_of(desk, pool, totals, wanted.method, wanted.target)
            places = np.array([place_of(answer.domain, label_in(answer, value))])
            row |= {"n": pool.n, **answer_rows(answer, wanted.level, False, places)[0]}
            del row["label"]
        rows.append(row)
    return rows


def label_in(answer: Estimate, text: str) -> Any:
    """The label that is written like this: labels may be whole numbers."""
    labels = answer.domain.all_labels()
    if labels and isinstance(labels[0], int):
        return int(text) if _WHOLE.fullmatch(text) else text
    return text


def _tested(test: Alike) -> dict[str, Any]:
    found = {name: value for name, value in test.to_dict().items() if name != "p_values"}
    return {**found, "label": test.label}


def difference(desk: Desk, pools: tuple[Pool, Pool], totals: Totals, wanted: Wanted) -> dict[str, Any]:
    """The first pool minus the second, with intervals for all values at once, and a test whether they differ."""
    first, second = (estimate_of(desk, pool, totals, "unbiased", wanted.target) for pool in pools)
    found = first - second
    test = None
    if len(first) <= _TESTED:
        test = alike({"a": first, "b": second})
    rows = (
        found.rows(wanted.level, simultaneous=True) if wanted.top is None else found.largest(wanted.top, wanted.level)
    )
    return {
        "n": [first.n, second.n],
        "withheld": sum(pool.withheld for pool in pools),
        "target": wanted.target,
        "level": wanted.level,
        "simultaneous": True,
        "alike": None if test is None else _tested(test),
        "values": [row.to_dict() for row in rows],
    }

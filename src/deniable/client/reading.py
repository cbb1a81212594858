"""A running collector, read from elsewhere: its published counts are fetched, and estimated here.

A read key opens published counts alone, those that the collector's own answers are made of. What comes back is
therefore a whole estimate, with every interval, sum and picture, made by the same code as from a file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple, Unpack
from urllib.parse import quote

import numpy as np

from deniable.client.published import Part, Source, Where
from deniable.client.web import Web, is_encrypted, site_of
from deniable.core.defaults import LEVEL, RATE
from deniable.core.domain.open import Open
from deniable.core.errors import InvalidArgument, MalformedSummary
from deniable.core.estimate import Estimate
from deniable.derived.groups import Differences
from deniable.derived.labels import place_of
from deniable.grouping.combined import combine_specs
from deniable.grouping.keys import Group
from deniable.grouping.table import SummaryTable
from deniable.heavy_hitters.collected import HitterSummary
from deniable.heavy_hitters.protocol import HeavyHitters
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.cohorts.base import CohortMechanism
from deniable.wire.buckets import ALL_TIME
from deniable.wire.keys import WRITE, Key

if TYPE_CHECKING:
    from deniable.heavy_hitters.findings import Findings

KEY_VARIABLE = "DENIABLE_READ_KEY"
_PLACE = "/v1/collections/"
_MOST = 2**28  # bytes of an answer
_TIMES = ("from", "to")


class Moment(NamedTuple):
    """One value in one bucket of time: `start` is where the bucket starts, `n` how many reports it has."""

    start: datetime
    n: int
    frequency: float
    std_error: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Collection:
    """A collection of a running collector; `dn.collection` makes it.

    Every method takes a selection: `first` and `last` (buckets, both included: a date, a time, or hours since 1970),
    `segments` such as {"country": "de"} or {"country": ["de", "fr"]}, and `spec`, the fingerprint of one spec among
    several. What a collector refuses raises Refused, with its reason; if nobody answers, Unreachable.
    """

    source: Source

    def __repr__(self) -> str:
        return f"Collection({self.source.web.site}{self.source.path})"

    def estimate(self, method: str | None = None, *, target: str = "users", **where: Unpack[Where]) -> Estimate:
        """Estimate the frequencies of all values; reports under several specs are combined.

        In its `details`, `withheld` is the number of reports that are counted and not published yet.
        """
        parts = self.source.parts(where)
        answer = _estimate(parts, method, target)
        return replace(answer, details={**answer.details, "withheld": sum(part.withheld for part in parts)})

    def trend(
        self, value: object, *, method: str = "unbiased", target: str = "users", level: float = LEVEL,
        **where: Unpack[Where],
    ) -> list[Moment]:  # fmt: skip
        """The frequency of one value, bucket by bucket; a bucket of which nothing is published is left out."""
        parts = self.source.parts(where)
        buckets = sorted({_bucket(group) for part in parts for group in part.table})
        if buckets == [ALL_TIME]:
            raise InvalidArgument("collection", "have buckets of time", "one without")
        found = []
        for bucket in buckets:
            answer = _estimate([_of_bucket(part, bucket) for part in parts], method, target)
            row = answer.rows(level, places=np.array([place_of(answer.domain, value)]))[0]
            start = datetime.fromtimestamp(3600 * bucket, UTC)
            found.append(Moment(start, answer.n, row.frequency, row.std_error, row.low, row.high))
        return found

    def difference(
        self, a: Mapping[str, str | Sequence[str]], b: Mapping[str, str | Sequence[str]], *,
        target: str = "population", **where: Unpack[Where],
    ) -> Differences:  # fmt: skip
        """One selection minus another, with intervals: a={"country": "de"}, b={"country": "fr"}.

        Either may have the members "from" and "to", to compare times.
        """
        first, second = (self.source.parts(_narrowed(where, own)) for own in (a, b))
        if _groups(first) & _groups(second):
            rule = "have no reports in common with a"
            raise InvalidArgument("b", rule, dict(b), "Give different labels or times.")
        return _estimate(first, "unbiased", target) - _estimate(second, "unbiased", target)

    def candidates(
        self, candidates: Sequence[str], method: str | None = None, *, complete: bool = False,
        target: str = "users", **where: Unpack[Where],
    ) -> Estimate:  # fmt: skip
        """Estimate the frequencies of these strings, of an open domain; `present` then says which are there."""
        part = self._only(where)
        if not isinstance(part.question, CohortMechanism) or not isinstance(part.question.domain, Open):
            raise InvalidArgument("collection", "be for open strings", _kind(part), "Use estimate().")
        summary = part.table.total()
        return part.question.estimate(summary, method, target=target, candidates=candidates, complete=complete)  # type: ignore[arg-type]

    def heavy_hitters(self, *, rate: float = RATE, target: str = "users", **where: Unpack[Where]) -> Findings:
        """Find frequent strings that nobody listed; at most a share `rate` of them is absent, on average."""
        part = self._only(where)
        summary = part.table.total()
        if not isinstance(part.question, HeavyHitters) or not isinstance(summary, HitterSummary):
            raise InvalidArgument("collection", "search for strings", _kind(part), "Use estimate().")
        return part.question.find(summary, rate=rate, target=target)

    def summaries(self, **where: Unpack[Where]) -> SummaryTable:
        """The published summaries of one spec, by `bucket` (hours since 1970) and the segments."""
        return self._only(where).table

    def _only(self, where: Where) -> Part:
        parts = self.source.parts(where)
        if len(parts) != 1:
            hint = "Choose one: spec=, one of " + ", ".join(part.table.fingerprint for part in parts)
            raise InvalidArgument("spec", "be given where there are reports of several", None, hint)
        return parts[0]


def collection(url: str, key: str | None = None, *, insecure: bool = False, timeout: float = 60.0) -> Collection:
    """A collection of a running collector, by its address and a read key.

    The address is that of the collector, /v1/collections/ and the name. Without `key`, the variable DENIABLE_READ_KEY
    holds it. Anybody on the way could take a key that is sent without TLS, so an address must be https, or this
    machine's, unless `insecure` is true.
    """
    place = site_of(url)
    site, _, name = place.rpartition(_PLACE)
    if not site or not name or "/" in name:
        rule = "be the address of a collection, such as https://reports.example.org/v1/collections/themes"
        raise InvalidArgument("url", rule, url)
    if not insecure and not is_encrypted(site):
        hint = "In a network that you trust: insecure=True, --insecure."
        raise InvalidArgument("url", "start with https://, because the key is sent there", url, hint)
    given = os.environ.get(KEY_VARIABLE) if key is None else key
    if given is None:
        raise InvalidArgument("key", f"be given, or be in the variable {KEY_VARIABLE}", None)
    read = Key.read(given)
    if read.role == WRITE:
        raise InvalidArgument("key", "be a key to read, dnr_...", read)
    return Collection(Source(Web(site, timeout, _MOST), _PLACE + quote(name, safe="%"), read))


def _estimate(parts: Sequence[Part], method: str | None, target: str) -> Estimate:
    pairs = []
    for part in parts:
        if isinstance(part.question, HeavyHitters) or isinstance(part.question.domain, Open):
            hint = "Use heavy_hitters()." if isinstance(part.question, HeavyHitters) else "Use candidates()."
            raise InvalidArgument("collection", "have a list of values", _kind(part), hint)
        if len(part.table):
            pairs.append((part.question, part.table.total()))
    return combine_specs(pairs, method, target=target)  # type: ignore[arg-type]


def _bucket(group: Group) -> int:
    """The first key of a group."""
    hour = group[0]
    if not isinstance(hour, int):
        raise MalformedSummary("the groups of published counts must begin with a bucket, in hours since 1970")
    return hour


def _of_bucket(part: Part, bucket: int) -> Part:
    groups = {group: summary for group, summary in part.table.items() if _bucket(group) == bucket}
    return Part(part.question, SummaryTable(part.table.by, groups, part.table.fingerprint), 0)


def _narrowed(where: Where, own: Mapping[str, str | Sequence[str]]) -> Where:
    """A selection with the labels and times of one side of a difference."""
    segments = {name: labels for name, labels in own.items() if name not in _TIMES}
    found: Where = {**where, "segments": {**(where.get("segments") or {}), **segments}}
    if "from" in own:
        found["first"] = str(own["from"])
    if "to" in own:
        found["last"] = str(own["to"])
    return found


def _groups(parts: Sequence[Part]) -> set[object]:
    return {(part.table.fingerprint, group) for part in parts for group in part.table}


def _kind(part: Part) -> str:
    if isinstance(part.question, Mechanism):
        return "open strings" if isinstance(part.question.domain, Open) else "a list of values"
    return "heavy hitters"

"""The published counts of a collection, fetched with a read key and checked: tables of summaries with their specs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, TypedDict
from urllib.parse import urlencode

from deniable.client.asking import question_of
from deniable.client.errors import Unreachable
from deniable.client.web import Reply, Web
from deniable.core.documents import read_json
from deniable.core.errors import FingerprintMismatch, InvalidArgument, MalformedSummary
from deniable.grouping.parquet import read_parquet
from deniable.grouping.table import SummaryTable
from deniable.wire import published as beside
from deniable.wire.keys import Key
from deniable.wire.payloads import Question
from deniable.wire.refusals import Refused

Time = str | int | date


class Where(TypedDict, total=False):
    """A selection: from the first bucket to the last, both included; labels of segments; one spec of several."""

    first: Time | None
    last: Time | None
    segments: Mapping[str, str | Sequence[str]] | None
    spec: str | None


@dataclass(frozen=True, eq=False)
class Part:
    """The published counts of one spec, by bucket and segments; `withheld` reports are counted and not in them."""

    question: Question
    table: SummaryTable
    withheld: int


@dataclass(frozen=True)
class Source:
    """One collection at its address, with the key that reads it."""

    web: Web
    path: str
    key: Key

    def parts(self, where: Where) -> list[Part]:
        """The published counts of a selection, the newest spec first; a collector that refuses raises Refused."""
        query = query_of(where)
        try:
            return [self._part(query)]
        except Refused as refused:
            if refused.kind != "conflict":  # which says that there are several specs
                raise
        found = []
        for fingerprint in reversed(self._specs()):
            try:
                found.append(self._part([*query, ("spec", fingerprint)]))
            except Refused as refused:
                if refused.kind != "too-few-reports":
                    raise
        return found

    def _specs(self) -> list[str]:
        reply = self._asked(self.path)
        try:
            return [str(each["fingerprint"]) for each in (reply.members or {})["specs"]]
        except (KeyError, TypeError):
            raise Unreachable(self.web.site, "the answer is no collector's") from None

    def _part(self, query: list[tuple[str, str]]) -> Part:
        reply = self._asked(f"{self.path}/published" + (f"?{urlencode(query)}" if query else ""))
        try:
            table = read_parquet(reply.body)
        except MalformedSummary:
            raise Unreachable(self.web.site, "the answer is no collector's: it is no Parquet file") from None
        document, withheld = beside.read(table.schema.metadata)
        question, summaries = question_of(_members(document)), SummaryTable.from_arrow(table)
        if question.fingerprint != summaries.fingerprint:
            raise FingerprintMismatch("a table of published counts", question.fingerprint, summaries.fingerprint)
        return Part(question, summaries, withheld)

    def _asked(self, path: str) -> Reply:
        reply = self.web.request("GET", path, key=self.key.text)
        if not 200 <= reply.status < 300:
            reply.raise_refusal(self.web.site)
        return reply


def _members(document: str) -> dict[str, Any]:
    found = read_json(document)
    return found if isinstance(found, dict) else {}


def query_of(where: Where) -> list[tuple[str, str]]:
    """A selection as the parameters of a request."""
    if unknown := where.keys() - Where.__annotations__.keys():
        raise InvalidArgument("selection", f"be given by {', '.join(Where.__annotations__)}", min(unknown))
    given = {"from": where.get("first"), "to": where.get("last"), "spec": where.get("spec")}
    query = [(name, _text(value)) for name, value in given.items() if value is not None]
    segments = where.get("segments") or {}
    if not isinstance(segments, Mapping):
        raise InvalidArgument("segments", 'map names to labels, such as {"country": "de"}', segments)
    for name, labels in segments.items():
        several = [labels] if isinstance(labels, str) else list(labels)
        if not several:
            raise InvalidArgument(f"segment {name}", "name at least one label", labels)
        query += [(f"segment.{name}", str(label)) for label in several]
    return query


def _text(value: Time) -> str:
    """A time as the collector reads it; a datetime without a zone is in UTC."""
    return value.isoformat() if isinstance(value, date) else str(value)

"""Counters and gauges in the OpenMetrics text format."""

from __future__ import annotations

from collections.abc import Iterable

from deniable.collector.service.answers.cache import Cache
from deniable.collector.service.directory import Desk
from deniable.collector.service.service import Service

_Sample = tuple[dict[str, str], float]


class Metrics:
    """What a monitoring system may know of a collector: sums over all collections, and of each how many reports."""

    def __init__(self, service: Service, cache: Cache) -> None:
        self._service = service
        self._cache = cache

    def text(self, desk: Desk | None) -> str:
        """All figures now; the reports of one collection, or of all for administrators."""
        service = self._service
        outcomes = service.outcomes
        requests = [({"route": route, "outcome": kind}, n) for (route, kind), n in sorted(outcomes.counts().items())]
        waiting = sum(n for _, n in service.store.waiting())
        lines = [
            *_family("deniable_requests", "counter", "Requests by route and outcome.", requests),
            *_family("deniable_reports_stored", "counter", "New reports that were stored.", [({}, outcomes.reports)]),
            *_family("deniable_reports_folded", "counter", "Reports counted here.", [({}, service.keeper.folded)]),
            *_family("deniable_reports_waiting", "gauge", "Stored reports that are not counted yet.", [({}, waiting)]),
            *_family("deniable_requests_waiting", "gauge", "Requests not yet durable.", [({}, service.writer.waiting)]),
            *_family("deniable_store_trouble", "gauge", "1 if the store failed.", [({}, int(service.keeper.trouble))]),
            *_family("deniable_cache_hits", "counter", "Answers from the cache.", [({}, self._cache.hits)]),
            *_family("deniable_cache_misses", "counter", "Answers that were computed.", [({}, self._cache.misses)]),
            *_family("deniable_collection_reports", "gauge", "Reports in the counts.", self._counted(desk)),
        ]
        return "\n".join([*lines, "# EOF", ""])

    def _counted(self, only: Desk | None) -> list[_Sample]:
        desks = self._service.directory.desks.values() if only is None else [only]
        return [
            ({"collection": desk.name}, sum(kept.n for kept in self._service.store.kept(desk.number))) for desk in desks
        ]


def _family(name: str, kind: str, what: str, samples: Iterable[_Sample]) -> list[str]:
    suffix = "_total" if kind == "counter" else ""
    lines = [f"# TYPE {name} {kind}", f"# HELP {name} {what}"]
    for labels, value in samples:
        named = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
        lines.append(f"{name}{suffix}{f'{{{named}}}' if named else ''} {value}")
    return lines


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")

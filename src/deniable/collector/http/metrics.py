"""Counters and gauges in the OpenMetrics text format."""

from __future__ import annotations

from collections.abc import Iterable

from deniable.collector.service.answers.cache import Cache
from deniable.collector.service.directory import Desk
from deniable.collector.service.service import Service
from deniable.collector.service.telling import told_of, told_waiting

_Sample = tuple[dict[str, str], float]
_WAITING = "Stored reports that are not counted yet."
_TROUBLE = "1 if the store failed."
_COUNTED = "Reports in the counts."


class Metrics:
    """What a monitoring system may know: with an administrator's key all, with a read key its collection, rounded."""

    def __init__(self, service: Service, cache: Cache) -> None:
        self._service = service
        self._cache = cache

    def text(self, desk: Desk | None) -> str:
        """All figures now; or those of one collection alone, for its readers."""
        return "\n".join([*(self._all() if desk is None else self._own(desk)), "# EOF", ""])

    def _own(self, desk: Desk) -> list[str]:
        store = self._service.store
        waiting = told_waiting(store, desk, exact=False)
        counted = sum(kept.n for kept in told_of(store, desk, exact=False))
        return [
            *_family("deniable_reports_waiting", "gauge", _WAITING, [({}, waiting)]),
            *_family("deniable_store_trouble", "gauge", _TROUBLE, [({}, int(self._service.keeper.trouble))]),
            *_family("deniable_collection_reports", "gauge", _COUNTED, [({"collection": desk.name}, counted)]),
        ]

    def _all(self) -> list[str]:
        service = self._service
        outcomes = service.outcomes
        requests = [({"route": route, "outcome": kind}, n) for (route, kind), n in sorted(outcomes.counts().items())]
        waiting = sum(n for _, n in service.store.waiting())
        return [
            *_family("deniable_requests", "counter", "Requests by route and outcome.", requests),
            *_family("deniable_reports_stored", "counter", "New reports that were stored.", [({}, outcomes.reports)]),
            *_family("deniable_reports_folded", "counter", "Reports counted here.", [({}, service.keeper.folded)]),
            *_family("deniable_reports_waiting", "gauge", _WAITING, [({}, waiting)]),
            *_family("deniable_requests_waiting", "gauge", "Requests not yet durable.", [({}, service.writer.waiting)]),
            *_family("deniable_store_trouble", "gauge", _TROUBLE, [({}, int(service.keeper.trouble))]),
            *_family("deniable_cache_hits", "counter", "Answers from the cache.", [({}, self._cache.hits)]),
            *_family("deniable_cache_misses", "counter", "Answers that were computed.", [({}, self._cache.misses)]),
            *_family("deniable_collection_reports", "gauge", _COUNTED, self._counted()),
        ]

    def _counted(self) -> list[_Sample]:
        desks = self._service.directory.desks.values()
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

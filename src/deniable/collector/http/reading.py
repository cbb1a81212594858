"""The routes that answer questions about counts: the same question about the same counts is answered from a cache."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import Any

from deniable.collector.http.handlers import Call
from deniable.collector.http.replies import Reply, as_json
from deniable.collector.http.shapes import CandidatesAsked
from deniable.collector.http.table import ARROW, CSV, JSON, PARQUET
from deniable.collector.service.answers.cache import Cache, key_of
from deniable.collector.service.answers.estimating import (
    Wanted,
    about,
    columns,
    difference,
    document,
    estimate_of,
    methods_of,
    table,
    trend,
)
from deniable.collector.service.answers.pool import Pool, Totals
from deniable.collector.service.answers.selection import Selection, selection_of
from deniable.collector.service.answers.strings import candidates, heavy_hitters
from deniable.collector.service.exchange import published
from deniable.collector.service.service import Service
from deniable.collector.service.telling import told_of
from deniable.collector.store.records import Kept
from deniable.wire.refusals import Refused

_KINDS = {"json": JSON, "columns": JSON, "csv": CSV, "arrow": ARROW}


class Reading:
    """Answers, made of published counts."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self.cache = Cache()
        self._totals = Totals(service.store)

    def _kept(self, call: Call) -> list[Kept]:
        return told_of(self._service.store, call.at, call.exact)

    def _selection(self, call: Call) -> Selection:
        query = call.query
        return selection_of(call.at, query["from"], query["to"], query["segment"], query["spec"])

    def _wanted(self, call: Call) -> Wanted:
        given = {name: call.query[name] for name in Wanted._fields if name in call.query}
        return Wanted(**given)

    def _cached(
        self, call: Call, name: str, pools: tuple[Pool, ...], question: Any, make: Callable[[], Reply]
    ) -> Reply:
        form = call.query.get("format", "json")
        row, versions = call.at.row, [pool.version for pool in pools]
        # of a collection, what answers depend on: not the hour before which it forgets ids, which goes on by itself
        key = key_of(row.number, row.settings, name, repr(question), form, versions)
        return Reply(self.cache.get(key, lambda: make().body), _KINDS[form])

    def estimate(self, call: Call) -> Reply:
        """Estimated frequencies."""
        desk, totals = call.at, self._totals
        wanted, selection = self._wanted(call), self._selection(call)
        pool = Pool.of(desk, self._kept(call), selection)

        def make() -> Reply:
            answer = estimate_of(desk, pool, totals, wanted.method, wanted.target)
            if call.query["format"] == "json":
                return as_json({**about(pool, selection), **document(answer, wanted)})
            if call.query["format"] == "columns":
                return as_json({**about(pool, selection), **columns(answer, wanted, methods_of(desk, pool))})
            return _table(table(answer, wanted), call.query["format"])

        return self._cached(call, "estimate", (pool,), (selection, wanted), make)

    def published(self, call: Call) -> Reply:
        """The counts that estimates are made of, for those who make their own."""
        pool = Pool.of(call.at, self._kept(call), self._selection(call))
        return Reply(published(pool, self._service.store), PARQUET)

    def trend(self, call: Call) -> Reply:
        """One value, bucket by bucket."""
        desk, totals = call.at, self._totals
        wanted, selection, value = self._wanted(call), self._selection(call), call.query["value"]
        pool = Pool.of(desk, self._kept(call), selection)
        wanted = wanted._replace(method=wanted.method or "unbiased")

        def make() -> Reply:
            rows = trend(desk, pool.cells, totals, value, wanted)
            if call.query["format"] != "json":
                import pyarrow as pa

                return _table(pa.Table.from_pylist(rows), call.query["format"])
            given = {"label": value, "method": wanted.method, "target": wanted.target, "level": wanted.level}
            return as_json({**about(pool, selection), "n": pool.n, **given, "buckets": rows})

        return self._cached(call, "trend", (pool,), (selection, wanted, value), make)

    def difference(self, call: Call) -> Reply:
        """One selection minus another."""
        desk, totals, wanted = call.at, self._totals, self._wanted(call)
        kept = self._kept(call)
        chosen = [self._part(call, side) for side in "ab"]
        both = [each for each in kept if chosen[0].takes(each.cell) and chosen[1].takes(each.cell)]
        if both:
            raise Refused("bad-argument", "a and b must have no reports in common: give different labels or times")
        first, second = (Pool.of(desk, kept, selection) for selection in chosen)

        def make() -> Reply:
            shown = {"a": about(first, chosen[0]), "b": about(second, chosen[1])}
            return as_json({"collection": desk.name, **shown, **difference(desk, (first, second), totals, wanted)})

        return self._cached(call, "difference", (first, second), (chosen, wanted), make)

    def _part(self, call: Call, side: str) -> Selection:
        query, own = call.query, dict(call.query[side])
        times = {name: own.pop(name, [query[name]]) for name in ("from", "to")}
        if any(len(given) > 1 for given in times.values()):
            raise Refused("bad-argument", f"{side}.from and {side}.to can be given once each")
        segments = {**query["segment"], **own}
        return selection_of(call.at, times["from"][0], times["to"][0], segments, query["spec"])

    def candidates(self, call: Call) -> Reply:
        """Which of these strings are present."""
        desk, totals = call.at, self._totals
        asked: CandidatesAsked = call.body
        selection = selection_of(desk, asked.from_, asked.to, asked.segments, asked.spec)
        pool = Pool.of(desk, self._kept(call), selection)
        options = {name: getattr(asked, name) for name in ("method", "target", "level", "rate", "complete", "top")}

        def make() -> Reply:
            found = candidates(desk, pool, totals, asked.candidates, **options)
            return as_json({**about(pool, selection), **found})

        return self._cached(call, "candidates", (pool,), asked, make)

    def heavy_hitters(self, call: Call) -> Reply:
        """Frequent strings that nobody listed."""
        desk, totals, query = call.at, self._totals, call.query
        selection = self._selection(call)
        pool = Pool.of(desk, self._kept(call), selection)
        options = {name: query[name] for name in ("rate", "target", "level", "top")}

        def make() -> Reply:
            return as_json({**about(pool, selection), **heavy_hitters(desk, pool, totals, **options)})

        return self._cached(call, "heavy-hitters", (pool,), (selection, options), make)


def _table(rows: Any, form: str) -> Reply:
    """A table of rows in one of two forms."""
    import pyarrow as pa
    import pyarrow.csv

    file = BytesIO()
    if form == "csv":
        pyarrow.csv.write_csv(rows, file)
        return Reply(file.getvalue(), CSV)
    with pa.ipc.new_stream(file, rows.schema) as stream:
        stream.write_table(rows)
    return Reply(file.getvalue(), ARROW)

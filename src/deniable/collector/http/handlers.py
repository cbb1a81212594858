"""What each route does but for the two by which reports arrive: plain calls of the service, run in threads."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from deniable.collector.http.incoming import Headers
from deniable.collector.http.openapi import described
from deniable.collector.http.pages import Pages
from deniable.collector.http.replies import Reply, as_json
from deniable.collector.http.shapes import NewAdminKey, NewCollection, NewKey, NewSpec
from deniable.collector.http.showing import collection_view, key_view, made_key
from deniable.collector.http.table import OPEN_METRICS, PARQUET
from deniable.collector.service.answers.selection import selection_of
from deniable.collector.service.directory import Desk, Holder
from deniable.collector.service.exchange import exported, imported
from deniable.collector.service.preview import preview
from deniable.collector.service.service import Service
from deniable.wire.buckets import hour_text
from deniable.wire.frames import ID_BYTES
from deniable.wire.keys import ADMIN
from deniable.wire.refusals import Refused


class Call(NamedTuple):
    """A request that passed all checks: what handlers work from."""

    headers: Headers
    path: dict[str, str]
    query: dict[str, Any]
    body: Any
    holder: Holder | None
    desk: Desk | None  # of the path, or of the key

    @property
    def exact(self) -> bool:
        """Whether who asks may know numbers of reports exactly."""
        return self.holder is not None and self.holder.role == ADMIN

    @property
    def at(self) -> Desk:
        """The collection."""
        assert self.desk is not None, "the route has a collection"
        return self.desk


class Handlers:
    """One method for each handler of the table."""

    def __init__(self, service: Service, pages: Pages, metrics: Any) -> None:
        self._service = service
        self._pages = pages
        self._metrics = metrics

    def delete_report(self, call: Call) -> Reply:
        assert call.holder is not None
        report_id = _bytes_of(call.path["id"])
        return as_json({"outcome": self._service.delete(call.at, call.holder, call.query["bucket"], report_id)})

    def issue_ids(self, call: Call) -> Reply:
        assert call.holder is not None
        hour, ids = self._service.ids(call.at, call.holder, call.query["count"])
        return as_json({"bucket": hour, "ids": [each.hex() for each in ids]})

    def form(self, call: Call) -> Reply:
        signed = self._service.forms.of(call.at, int(self._service.clock.seconds()))
        tag = f'"{signed.tag}"'
        headers = (
            (b"etag", tag.encode()),
            (b"cache-control", f"public, max-age={min(300, signed.fresh_for)}".encode()),
        )
        if tag in call.headers.tag:
            return Reply(b"", "", 304, headers)
        return as_json(signed.document)._replace(headers=headers)

    def collections(self, call: Call) -> Reply:
        assert call.holder is not None
        everything = list(self._service.directory.desks.values())
        desks = everything if call.exact else [call.holder.desk]
        found = [collection_view(self._service, desk, exact=call.exact) for desk in desks if desk is not None]
        return as_json({"collections": found})

    def collection(self, call: Call) -> Reply:
        return as_json(collection_view(self._service, call.at, exact=call.exact))

    def add_collection(self, call: Call) -> Reply:
        wanted: NewCollection = call.body
        keys = self._service.office.add_collection(wanted.name, wanted.spec, wanted.settings)
        self._service.refresh()
        desk = self._service.directory.desk(wanted.name)
        view = collection_view(self._service, desk, exact=call.exact)
        return as_json({"collection": view, "keys": [made_key(each) for each in keys]}, 201)

    def change_collection(self, call: Call) -> Reply:
        self._service.office.change(call.at, call.body)
        return self._changed(call, 200)

    def specs(self, call: Call) -> Reply:
        wanted = call.query["fingerprint"]
        rows = [row for row in call.at.rows if wanted in (None, row.fingerprint)]
        return as_json({"specs": [json.loads(row.document) for row in rows]})

    def add_spec(self, call: Call) -> Reply:
        wanted: NewSpec = call.body
        self._service.office.add_spec(call.at, wanted.spec)
        return self._changed(call, 201)

    def _changed(self, call: Call, status: int) -> Reply:
        self._service.refresh()
        desk = self._service.directory.desk(call.at.name)
        return as_json(collection_view(self._service, desk, exact=call.exact), status)

    def keys(self, call: Call) -> Reply:
        return self._keys(call.at)

    def add_key(self, call: Call) -> Reply:
        wanted: NewKey = call.body
        return self._add_key(wanted.role, call.at, wanted.label)

    def revoke_key(self, call: Call) -> Reply:
        return self._revoke_key(call.at, call)

    def admin_keys(self, _call: Call) -> Reply:
        return self._keys(None)

    def add_admin_key(self, call: Call) -> Reply:
        wanted: NewAdminKey = call.body
        return self._add_key(ADMIN, None, wanted.label)

    def revoke_admin_key(self, call: Call) -> Reply:
        return self._revoke_key(None, call)

    def _keys(self, desk: Desk | None) -> Reply:
        """The keys of a collection, or those that are of none."""
        number = None if desk is None else desk.number
        rows = [row for row in self._service.directory.keys if row.collection == number]
        return as_json({"keys": [key_view(row) for row in rows]})

    def _add_key(self, role: str, desk: Desk | None, label: str) -> Reply:
        made = self._service.office.add_key(role, None if desk is None else desk.number, label)
        self._service.refresh()
        return as_json(made_key(made), 201)

    def _revoke_key(self, desk: Desk | None, call: Call) -> Reply:
        self._service.office.revoke(self._service.directory, desk, call.path["id"])
        self._service.refresh()
        return as_json({"revoked": True})

    def refusals(self, call: Call) -> Reply:
        found = dict(self._service.store.refusals(call.at.number))
        for place, count in self._service.outcomes.refusals(call.at.number).items():
            found[place] = found.get(place, 0) + count
        rows = [{"day": hour_text(day), "kind": kind, "count": count} for (day, kind), count in sorted(found.items())]
        return as_json({"refusals": rows})

    def export(self, call: Call) -> Reply:
        desk, spec = call.at, call.query["spec"]
        selection = selection_of(desk, call.query["from"], call.query["to"], None, spec)
        kept = selection.of(self._service.store.kept(desk.number))
        specs = {each.cell.fingerprint for each in kept}
        if spec is None:
            if len(specs) > 1:
                raise Refused("conflict", f"there are reports of {len(specs)} specs. Choose one: spec=FINGERPRINT.")
            spec = next(iter(specs), desk.rows[-1].fingerprint)
        return Reply(exported(desk, spec, kept, self._service.store), PARQUET)

    def take_summaries(self, call: Call) -> Reply:
        name, service = _bytes_of(call.query["id"]), self._service
        new, reports = imported(call.at, name, call.body, service.store, service.clock.hour())
        return as_json({"new": new, "reports": reports})

    def preview(self, call: Call) -> Reply:
        return as_json(preview(self._service.workshop, **{name: getattr(call.body, name) for name in _ASKED}))

    def openapi(self, _call: Call) -> Reply:
        return as_json(described())

    def health(self, _call: Call) -> Reply:
        return as_json({"status": "ok"})

    def ready(self, _call: Call) -> Reply:
        self._service.ready()
        return as_json({"status": "ok"})

    def metrics(self, call: Call) -> Reply:
        return Reply(
            self._metrics.text(None if call.exact else call.at).encode(),
            f"{OPEN_METRICS}; version=1.0.0; charset=utf-8",
        )

    def page(self, _call: Call) -> Reply:
        return self._pages.reply("index.html")

    def file(self, call: Call) -> Reply:
        return self._pages.reply(call.path["file"])


_ASKED = ("spec", "labels", "k", "other", "epsilon", "mechanism", "n")


def _bytes_of(text: str) -> bytes:
    try:
        data = bytes.fromhex(text)
    except ValueError:
        data = b""
    if len(data) != ID_BYTES or not text.isalnum():
        raise Refused("bad-id", f"an id is {2 * ID_BYTES} hexadecimal digits")
    return data

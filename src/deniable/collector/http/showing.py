"""Collections and keys as their readers see them."""

from __future__ import annotations

from typing import Any

from deniable.collector.service.administering import Made
from deniable.collector.service.directory import Desk, key_id
from deniable.collector.service.service import Service
from deniable.collector.store.records import KeyRow


def collection_view(service: Service, desk: Desk) -> dict[str, Any]:
    """A collection: its settings, its specs, and how many reports it has."""
    # first, so that what is counted between the two is in both numbers and not in neither
    waiting = sum(n for cell, n in service.store.waiting() if cell.collection == desk.number)
    kept = service.store.kept(desk.number)
    buckets = [each.cell.bucket for each in kept]
    return {
        "name": desk.name,
        "settings": desk.settings,
        "specs": [_spec(desk, row.fingerprint, row.added) for row in desk.rows],
        "signed_by": desk.signed_by,
        "form": f"/v1/forms/{desk.name}",
        "counted": sum(each.n for each in kept),
        "published": sum(each.published for each in kept),
        "waiting": waiting,
        "first": min(buckets, default=None),
        "last": max(buckets, default=None),
    }


def _spec(desk: Desk, fingerprint: str, added: int) -> dict[str, Any]:
    asked = desk.spec(fingerprint)
    return {
        "fingerprint": fingerprint,
        "added": added,
        "kind": asked.kind,
        "mechanism": asked.mechanism,
        "epsilon": float(asked.question.epsilon),
        "values": asked.values,
        "expired": fingerprint in desk.settings.expired,
    }


def key_view(row: KeyRow) -> dict[str, Any]:
    """A key without its secret."""
    return {"id": key_id(row.digest), "role": row.role, "label": row.label, "made": row.made, "revoked": row.revoked}


def made_key(made: Made) -> dict[str, str]:
    """A new key with its secret, for the last time."""
    return {"id": made.id, "role": made.key.role, "label": made.label, "key": made.key.text}

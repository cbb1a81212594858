"""Collections and keys as their readers see them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deniable.collector.service.administering import Made
from deniable.collector.service.directory import Desk, key_id
from deniable.collector.service.service import Service
from deniable.collector.service.telling import told_of, told_waiting
from deniable.collector.store.records import Kept, KeyRow
from deniable.wire.buckets import hour_text


def collection_view(service: Service, desk: Desk, *, exact: bool) -> dict[str, Any]:
    """A collection: its settings, its specs, and how many reports it has, exactly for administrators alone."""
    # first, so that what is counted between the two is in both numbers and not in neither
    waiting = told_waiting(service.store, desk, exact)
    kept = told_of(service.store, desk, exact)
    return {
        "name": desk.name,
        "settings": desk.settings,
        "specs": [_spec(desk, row.fingerprint, row.added) for row in desk.rows],
        "signed_by": desk.signed_by,
        "form": f"/v1/forms/{desk.name}",
        "counted": sum(each.n for each in kept),
        "published": sum(each.published for each in kept),
        "waiting": waiting,
        "buckets": _buckets(kept),
    }


def _buckets(kept: Sequence[Kept]) -> list[dict[str, Any]]:
    """How many reports each bucket has, over all specs and segments, in order of time."""
    found: dict[int, list[int]] = {}
    for each in kept:
        counts = found.setdefault(each.cell.bucket, [0, 0])
        counts[0] += each.n
        counts[1] += each.published
    return [
        {"bucket": bucket, "time": hour_text(bucket), "counted": counted, "published": published}
        for bucket, (counted, published) in sorted(found.items())
    ]


def _spec(desk: Desk, fingerprint: str, added: int) -> dict[str, Any]:
    asked = desk.spec(fingerprint)
    return {
        "fingerprint": fingerprint,
        "added": added,
        "kind": asked.kind,
        "mechanism": asked.mechanism,
        "epsilon": float(asked.question.epsilon),
        "ratio": float(asked.question.guarantee().ratio),
        "values": asked.values,
        "expired": fingerprint in desk.settings.expired,
    }


def key_view(row: KeyRow) -> dict[str, Any]:
    """A key without its secret."""
    return {"id": key_id(row.digest), "role": row.role, "label": row.label, "made": row.made, "revoked": row.revoked}


def made_key(made: Made) -> dict[str, str]:
    """A new key with its secret, for the last time."""
    return {"id": made.id, "role": made.key.role, "label": made.label, "key": made.key.text}

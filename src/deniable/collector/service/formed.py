"""The form of a collection, signed anew before it expires."""

from __future__ import annotations

import hashlib
import json
from threading import Lock
from typing import NamedTuple

from deniable.collector.service.directory import Desk
from deniable.wire.forms import Form
from deniable.wire.refusals import Refused


class Signed(NamedTuple):
    """A signed form as it is served."""

    document: dict[str, str]
    tag: str  # changes with the form
    fresh_for: int  # seconds


class Forms:
    """Makes forms, and keeps each until a quarter of its time has passed."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: dict[int, tuple[Desk, int, Signed]] = {}

    def of(self, desk: Desk, seconds: int) -> Signed:
        """The form of a collection at this time."""
        lifetime = desk.settings.form_seconds
        issued = seconds - seconds % max(1, lifetime // 4)  # the same in every process
        with self._lock:
            kept = self._kept.get(desk.number)
            if kept is None or kept[0] is not desk or kept[1] != issued:
                kept = self._kept[desk.number] = (desk, issued, _signed(desk, issued))
            return kept[2]._replace(fresh_for=max(1, issued + lifetime // 4 - seconds))


def _signed(desk: Desk, issued: int) -> Signed:
    settings = desk.settings
    newest_first = [row for row in reversed(desk.rows) if row.fingerprint not in settings.expired]
    if not newest_first:
        raise Refused("expired", "all specs of the collection have expired")
    form = Form(
        collection=desk.name,
        open=settings.open,
        specs=tuple(json.loads(row.document) for row in newest_first),
        bucket=settings.bucket,
        segments=settings.labelled,
        window=settings.window,
        issued_ids=settings.issued_ids,
        issued=issued,
        expires=issued + settings.form_seconds,
    )
    document = desk.signer.signed(form)
    return Signed(document, hashlib.sha256(document["form"].encode()).hexdigest()[:32], settings.form_seconds)

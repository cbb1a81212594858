"""Reports at the door: what a frame says is checked against its collection before it may wait to be stored."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from deniable.collector.service.clock import Clock
from deniable.collector.service.directory import Desk, Holder
from deniable.collector.service.issued import were_issued
from deniable.collector.service.questions import Asked
from deniable.collector.store.records import Cell
from deniable.wire.buckets import hour_text
from deniable.wire.frames import ID_BYTES, Frame
from deniable.wire.keys import NO_KEY
from deniable.wire.refusals import Refused

_UNTIL_BUSY_ENDS = 1.0


class Taken:
    """Reports that passed the door. `outcome` is set when they are stored, to how many were new, or refused.

    Those that come too late have a reason to be refused, unless they are known: then they are acknowledged again.
    """

    __slots__ = ("asked", "cell", "desk", "frame", "ids", "late", "outcome", "ticket", "wake")

    def __init__(self, desk: Desk, asked: Asked, frame: Frame, cell: Cell, late: Refused | None) -> None:
        self.desk = desk
        self.asked = asked
        self.frame = frame
        self.cell = cell
        self.ids: tuple[bytes, ...] = ()  # of the reports, or of the batch
        self.late = late
        self.outcome: int | Exception | None = None
        self.wake: Callable[[Sequence[Taken]], None] = nobody
        self.ticket: Any = None  # of whoever waits

    @property
    def bytes(self) -> int:
        """What it takes while it waits."""
        return len(self.frame.payloads) + len(self.frame.ids)


def nobody(_: Sequence[Taken]) -> None:
    """Wake nobody."""


def checked(frame: Frame, holder: Holder, desk: Desk, clock: Clock) -> Taken:
    """Check all of a frame but its ids and the contents of its payloads, or refuse it."""
    settings = desk.settings
    if frame.n > settings.reports_per_batch:
        most = f"{settings.reports_per_batch:,}"
        raise Refused("too-large", f"a batch of this collection has at most {most} reports, got {frame.n:,}")
    holder.allowance.take(frame.n)
    late = _late(frame, desk, clock)
    if late is not None and frame.hour < desk.row.remembered_from:
        raise late
    asked = desk.specs.get(frame.fingerprint)
    if asked is None:
        raise late or Refused("unknown-spec")
    segments, sizes = frame.segments, desk.sizes
    if len(segments) != len(sizes) or (sizes and any(map(operator.ge, segments, sizes))):
        raise Refused("bad-segments", f"reports have {len(sizes)} segments, each the place of a label")
    size = asked.payloads(bool(frame.ids)).size
    if len(frame.payloads) != size * frame.n:
        expected = f"{size} bytes" + (f" each, {size * frame.n:,} in all" if frame.batch is not None else "")
        raise Refused("bad-payload", f"payloads of this spec have {expected}, got {len(frame.payloads):,}")
    bucket = 0 if desk.buckets[1] else frame.hour
    return Taken(desk, asked, frame, Cell(desk.number, asked.fingerprint, bucket, frame.segments), late)


def _late(frame: Frame, desk: Desk, clock: Clock) -> Refused | None:
    """Why reports come too late, if they do."""
    if not desk.settings.open:
        return Refused("closed")
    if desk.expired and frame.fingerprint in desk.expired:
        return Refused("expired")
    return None if _in_time(frame.hour, desk, clock) else Refused("too-old")


def _in_time(hour: int, desk: Desk, clock: Clock) -> bool:
    """Whether reports of this bucket are still taken; refuse what is no bucket, or begins after the next one."""
    length, now = desk.buckets[0], clock.hour()
    first, last = desk.span(now)
    if length > 1 and not desk.calendar.is_start(hour):
        raise Refused("bad-bucket", f"bucket {hour} is not the start of a {_noun(desk)} ({hour_text(hour)})")
    if hour > last:
        raise Refused("in-future", retry_after=float(3600 * (hour - length - now)))
    return hour >= first


def may_arrive(desk: Desk, clock: Clock, hour: int, report_id: bytes) -> bool:
    """Whether a report of this bucket and id would be taken now."""
    first, last = desk.span(clock.hour())
    if not (first <= hour <= last and desk.settings.buckets.is_start(hour)):
        return False
    return not desk.settings.issued_ids or were_issued(desk.id_secret, hour, (report_id,))


def _noun(desk: Desk) -> str:
    unit = desk.settings.bucket
    return "day" if unit == "none" else unit


def ids_of(frame: Frame, desk: Desk) -> tuple[bytes, ...]:
    """The ids of a frame's reports, or that of its batch if they have none; or refuse them."""
    if frame.batch is None:
        ids: tuple[bytes, ...] = (frame.ids,)
    elif frame.ids:
        ids = tuple(np.frombuffer(frame.ids, f"V{ID_BYTES}").tolist())  # a fourth of the time of a loop
        if len(set(ids)) < len(ids):
            raise Refused("bad-id", "an id occurs twice in the batch")
    else:
        ids = (frame.batch,)
    if desk.settings.issued_ids and (not frame.ids or not were_issued(desk.id_secret, frame.hour, ids)):
        raise Refused("bad-id", "this collection takes only ids that it issued for this bucket: GET /v1/ids")
    return ids


def secret_in(frame: Frame, header: bytes | None) -> bytes:
    """The write key of a frame, or else that of the header; two that differ are refused."""
    if frame.key == NO_KEY:
        if header is None:
            raise Refused("no-key")
        return header
    if header is not None and header != frame.key:
        raise Refused("wrong-key", "the frame and the header name different keys")
    return frame.key

"""Frames: one report, or a batch of reports, as the bytes of a request.

Little-endian. One report, version 1:

    0   5  DNBLR
    5   1  version, 1
    6   1  number of segments s, 0 to 3
    7   1  zero
    8  16  write key; zeros if it is in the header `Authorization`
    24 32  fingerprint
    56  4  bucket: hours since 1970
    60 16  id of the report
    76  s  segments: for each, the place of its label
    .      payload, to the end

A batch, version 1: its reports share a spec, a bucket and segments.

    0   5  DNBLB
    5   1  version, 1
    6   1  number of segments s, 0 to 3
    7   1  flags; bit 0: every report has an id of its own
    8  16  write key, or zeros
    24 32  fingerprint
    56  4  bucket
    60 16  id of the batch
    76  4  number of reports n
    80  s  segments
    . 16 n  ids of the reports, if they have any
    .      payloads, end to end, all of the same length

Every version ever written stays readable.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from deniable.wire.keys import KEY_BYTES, NO_KEY
from deniable.wire.refusals import Refused

VERSION = 1
ID_BYTES = 16
MAX_SEGMENTS = 3
REPORT_MAGIC, BATCH_MAGIC = b"DNBLR", b"DNBLB"
_REPORT = struct.Struct(f"<5sBBB{KEY_BYTES}s32sI{ID_BYTES}s")
_BATCH = struct.Struct(f"<5sBBB{KEY_BYTES}s32sI{ID_BYTES}sI")
_WITH_IDS = 1
_KEY_AT = 8


class Frame(NamedTuple):
    """A report or a batch as it was sent; nothing in it is checked against a collection yet.

    Of one report, `ids` holds its id and `batch` is None. Of a batch, `ids` are the ids of the reports end to end,
    empty if they have none.
    """

    key: bytes
    fingerprint: bytes
    hour: int
    segments: bytes
    ids: bytes
    payloads: bytes
    n: int = 1
    batch: bytes | None = None

    @property
    def has_ids(self) -> bool:
        """Whether every report has an id of its own."""
        return bool(self.ids)

    def to_bytes(self) -> bytes:
        """The frame as the body of a request."""
        start = (VERSION, len(self.segments))
        key = self.key or NO_KEY
        if self.batch is None:
            head = _REPORT.pack(REPORT_MAGIC, *start, 0, key, self.fingerprint, self.hour, self.ids)
        else:
            flags = _WITH_IDS if self.ids else 0
            head = _BATCH.pack(BATCH_MAGIC, *start, flags, key, self.fingerprint, self.hour, self.batch, self.n)
        ids = b"" if self.batch is None else self.ids
        return b"".join((head, self.segments, ids, self.payloads))


def read_report(data: bytes) -> Frame:
    """Read the frame of one report, or raise Refused."""
    _check_start(data, REPORT_MAGIC, _REPORT.size)
    _, _, segments, zero, key, fingerprint, hour, report_id = _REPORT.unpack_from(data)
    start = _REPORT.size + segments
    if zero:
        raise Refused("bad-flags", "byte 7 of a report must be zero")
    if segments > MAX_SEGMENTS or len(data) <= start:
        raise Refused("truncated", f"a report with {segments} segments needs more than {start} bytes, got {len(data)}")
    return Frame(key, fingerprint, hour, data[_REPORT.size : start], report_id, data[start:])


def read_batch(data: bytes) -> Frame:
    """Read the frame of a batch, or raise Refused. The length of its payloads is checked with its spec."""
    _check_start(data, BATCH_MAGIC, _BATCH.size)
    _, _, segments, flags, key, fingerprint, hour, batch, count = _BATCH.unpack_from(data)
    if flags & ~_WITH_IDS:
        raise Refused("bad-flags", f"flags of a batch must be 0 or 1, got {flags}")
    if count == 0:
        raise Refused("empty-batch", "a batch must have at least one report")
    ids_at = _BATCH.size + segments
    payloads_at = ids_at + (ID_BYTES * count if flags else 0)
    if segments > MAX_SEGMENTS or len(data) <= payloads_at:
        raise Refused("truncated", f"a batch of {count:,} reports must have more bytes, got {len(data):,}")
    ids = data[ids_at:payloads_at]
    return Frame(key, fingerprint, hour, data[_BATCH.size : ids_at], ids, data[payloads_at:], count, batch)


def key_in(start: bytes, magic: bytes) -> bytes | None:
    """The write key of a frame that begins like this, or None if that is not there yet; or raise Refused."""
    if not magic.startswith(start[: len(magic)]):
        _check_magic(start, magic)
    return start[_KEY_AT : _KEY_AT + KEY_BYTES] if len(start) >= _KEY_AT + KEY_BYTES else None


def _check_magic(data: bytes, magic: bytes) -> None:
    if data[:5] != magic:
        what = {REPORT_MAGIC: "one report", BATCH_MAGIC: "a batch"}
        other = next((name for known, name in what.items() if data[:5] == known), "")
        hint = f" These are the bytes of {other}: send them to the other address." if other else ""
        raise Refused("not-a-frame", f"the frame of {what[magic]} must start with {magic.decode()}.{hint}")


def _check_start(data: bytes, magic: bytes, size: int) -> None:
    _check_magic(data, magic)
    if len(data) < size:
        raise Refused("truncated", f"the frame must have at least {size} bytes, got {len(data)}")
    if data[5] != VERSION:
        kind = "newer-version" if data[5] > VERSION else "not-a-frame"
        raise Refused(kind, f"frames are read up to version {VERSION}, got {data[5]}")

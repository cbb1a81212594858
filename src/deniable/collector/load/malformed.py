"""Requests that a collector must refuse, each made from a good one by one change, with the reason it must give."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from deniable.wire.frames import Frame, read_batch, read_report

_FUTURE = 24 * 365 * 10  # hours
Spoil = Callable[[bytes], bytes]


def _frame(data: bytes) -> Frame:
    return read_report(data) if data[:5] == b"DNBLR" else read_batch(data)


def _at(place: int, byte: int) -> Spoil:
    return lambda data: data[:place] + bytes([byte]) + data[place + 1 :]


def _changed(**members: Callable[[Frame], Any]) -> Spoil:
    def spoil(data: bytes) -> bytes:
        frame = _frame(data)
        changes: dict[str, Any] = {name: change(frame) for name, change in members.items()}
        return frame._replace(**changes).to_bytes()

    return spoil


# the reason, and how to earn it
WAYS: tuple[tuple[str, Spoil], ...] = (
    ("not-a-frame", _at(0, 0x7B)),
    ("newer-version", _at(5, 200)),
    ("bad-flags", _at(7, 0x80)),
    ("truncated", lambda data: data[:70]),
    ("no-key", _changed(key=lambda frame: bytes(len(frame.key)))),
    ("unknown-key", _changed(key=lambda frame: os.urandom(len(frame.key)))),
    ("unknown-spec", _changed(fingerprint=lambda frame: os.urandom(len(frame.fingerprint)))),
    ("in-future", _changed(hour=lambda frame: frame.hour + _FUTURE)),
    ("too-old", _changed(hour=lambda frame: frame.hour - _FUTURE)),
    ("bad-bucket", _changed(hour=lambda frame: frame.hour + 1)),
    ("bad-segments", _changed(segments=lambda frame: bytes(255 for _ in frame.segments))),
    ("bad-payload", _changed(payloads=lambda frame: frame.payloads + b"\0")),
)


def spoiled(body: bytes, number: int) -> tuple[bytes, str]:
    """A body that must be refused, and the reason; the ways take turns."""
    reason, spoil = WAYS[number % len(WAYS)]
    return spoil(body), reason

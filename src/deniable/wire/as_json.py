"""The JSON form of frames, for people and for languages without a struct module. Byte strings are hexadecimal."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from deniable.core.documents import read_json
from deniable.core.errors import InvalidArgument, SpecError, kind_of, listed, shown
from deniable.wire.buckets import MAX_HOUR
from deniable.wire.frames import ID_BYTES, Frame
from deniable.wire.keys import NO_KEY, WRITE, Key
from deniable.wire.refusals import Refused

_REPORT = {"fingerprint", "bucket", "id", "payload"}
_BATCH = {"fingerprint", "bucket", "id", "payloads"}
_OPTIONAL = {"key", "segments"}
Labels = Sequence[str]
Places = Callable[[bytes, bytes], Sequence[Labels] | None]


def report_from_json(data: bytes, places: Places) -> Frame:
    """Read one report. `places(key, fingerprint)` lists the labels of the segments that this key's reports have."""
    members = _members(data, _REPORT, _OPTIONAL)
    key, fingerprint, hour, segments = _common(members, places)
    return Frame(key, fingerprint, hour, segments, _bytes(members, "id", ID_BYTES), _bytes(members, "payload"))


def batch_from_json(data: bytes, places: Places) -> Frame:
    """Read a batch; `ids` is optional."""
    members = _members(data, _BATCH, _OPTIONAL | {"ids"})
    key, fingerprint, hour, segments = _common(members, places)
    payloads = _all_bytes(members, "payloads")
    if not payloads:
        raise Refused("empty-batch", "a batch must have at least one report")
    if len({len(each) for each in payloads}) > 1:
        raise Refused("bad-payload", "all payloads of a batch must have the same length")
    ids = _all_bytes(members, "ids", ID_BYTES) if "ids" in members else []
    if "ids" in members and len(ids) != len(payloads):
        raise Refused("bad-id", f"there must be one id for each of {len(payloads)} reports, got {len(ids)}")
    batch = _bytes(members, "id", ID_BYTES)
    return Frame(key, fingerprint, hour, segments, b"".join(ids), b"".join(payloads), len(payloads), batch)


def to_json(frame: Frame, labels: Sequence[Labels], size: int) -> bytes:
    """Write a frame as JSON; `labels` are those of the segments, `size` the bytes of one payload."""
    members: dict[str, Any] = {
        "fingerprint": frame.fingerprint.hex(),
        "bucket": frame.hour,
        "segments": [known[place] for known, place in zip(labels, frame.segments, strict=True)],
    }
    if frame.key not in (b"", NO_KEY):
        members["key"] = Key(WRITE, frame.key).text
    if frame.batch is None:
        members |= {"id": frame.ids.hex(), "payload": frame.payloads.hex()}
    else:
        members |= {"id": frame.batch.hex(), "payloads": _cut(frame.payloads, size)}
        if frame.ids:
            members["ids"] = _cut(frame.ids, ID_BYTES)
    return json.dumps(members, ensure_ascii=False).encode()


def _cut(data: bytes, size: int) -> list[str]:
    return [data[start : start + size].hex() for start in range(0, len(data), size)]


def _members(data: bytes, needed: set[str], optional: set[str]) -> dict[str, Any]:
    try:
        members = read_json(data, "body", limits=None)
    except SpecError as error:
        raise Refused("not-json", str(error)) from None
    if not isinstance(members, dict):
        raise Refused("not-json", f"body must be a JSON object, got {kind_of(members)}")
    if wrong := sorted((members.keys() | needed) - (members.keys() & (needed | optional))):
        raise Refused("not-json", f"body has a missing or unknown member: {listed(wrong)}")
    return members


def _common(members: dict[str, Any], places: Places) -> tuple[bytes, bytes, int, bytes]:
    fingerprint, hour = _bytes(members, "fingerprint", 32), members["bucket"]
    if type(hour) is not int or not 0 <= hour <= MAX_HOUR:
        raise Refused("bad-bucket", f"bucket must be hours since 1970, a whole number, got {shown(hour)}")
    key = _key(members)
    labels = places(key, fingerprint)
    if labels is None:
        raise Refused("unknown-spec")
    return key, fingerprint, hour, _segments(members.get("segments", []), labels)


def _segments(given: object, labels: Sequence[Labels]) -> bytes:
    if not isinstance(given, list) or len(given) != len(labels):
        raise Refused("bad-segments", f"segments must be a list of {len(labels)} labels, got {shown(given)}")
    for label, known in zip(given, labels, strict=True):
        if label not in known:
            raise Refused("bad-segments", f"segment must be one of {listed(known)}, got {shown(label)}")
    return bytes(known.index(label) for label, known in zip(given, labels, strict=True))


def _key(members: dict[str, Any]) -> bytes:
    if "key" not in members:
        return NO_KEY
    try:
        key = Key.read(members["key"])
    except InvalidArgument as error:
        raise Refused("no-key", str(error)) from None
    if key.role != WRITE:
        raise Refused("wrong-key", "reports are sent with a write key")
    return key.secret


def _bytes(members: dict[str, Any], name: str, size: int | None = None) -> bytes:
    return _hex(members[name], name, size)


def _all_bytes(members: dict[str, Any], name: str, size: int | None = None) -> list[bytes]:
    texts = members[name]
    if not isinstance(texts, list):
        raise Refused("not-json", f"{name} must be a list of hexadecimal texts")
    return [_hex(text, name, size) for text in texts]


def _hex(text: object, name: str, size: int | None) -> bytes:
    kind = {"id": "bad-id", "ids": "bad-id", "fingerprint": "unknown-spec"}.get(name, "bad-payload")
    if not isinstance(text, str) or not text.isascii() or len(text) % 2 or not text.isalnum() or text != text.lower():
        raise Refused(kind, f"{name} must be lower-case hexadecimal")
    try:
        data = bytes.fromhex(text)
    except ValueError:
        raise Refused(kind, f"{name} must be lower-case hexadecimal") from None
    if size is not None and len(data) != size:
        raise Refused(kind, f"{name} must be {size} bytes, got {len(data)}")
    return data

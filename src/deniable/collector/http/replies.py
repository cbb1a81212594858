"""What is sent: one shape of errors, headers that keep browsers strict, and which pages may read an answer."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import msgspec

from deniable.collector.http.table import JSON
from deniable.wire.refusals import Refused

Send = Callable[[dict[str, Any]], Awaitable[None]]
Pairs = list[tuple[bytes, bytes]]
STRICT: Pairs = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
NOT_STORED: Pairs = [(b"cache-control", b"no-store")]
CLOSE: Pairs = [(b"connection", b"close")]
_encode = msgspec.json.Encoder().encode


class Reply(NamedTuple):
    """An answer, ready to be sent."""

    body: bytes
    kind: str = JSON
    status: int = 200
    headers: tuple[tuple[bytes, bytes], ...] = ()


def as_json(document: Any, status: int = 200) -> Reply:
    """An answer in JSON; infinite numbers become null."""
    return Reply(_encode(document), JSON, status)


def refusal(why: Refused, unread: bool = False) -> Reply:
    """The one shape of errors; where the rest of a body is not read, the connection ends."""
    headers: Pairs = []
    if why.retry_after is not None:
        headers.append((b"retry-after", str(math.ceil(why.retry_after)).encode()))
    if why.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if unread or why.kind in ("too-large", "slow"):
        headers += CLOSE
    return Reply(_encode(why.to_dict()), JSON, why.status, tuple(headers))


BROKEN = refusal(Refused("broken", retry_after=1.0))  # what is left to say where telling a fault is a fault, too


def shared_with(origin: str) -> Pairs:
    """The headers by which a browser lets pages of this origin read the answer."""
    return [
        (b"access-control-allow-origin", origin.encode("latin-1")),
        (b"vary", b"origin"),
        (b"access-control-expose-headers", b"retry-after, etag"),
        (b"cross-origin-resource-policy", b"cross-origin"),
    ]


def preflight(origin: str, methods: str) -> Reply:
    """The answer to a browser that asks what pages of this origin may do."""
    headers = (
        (b"access-control-allow-methods", methods.encode()),
        (b"access-control-allow-headers", b"authorization, content-type"),
        (b"access-control-max-age", b"86400"),
    )
    return Reply(b"", "", 204, (*shared_with(origin), *headers))


async def send_reply(send: Send, reply: Reply, more: Pairs) -> None:
    """Send an answer with these headers besides its own."""
    headers = [*more, *reply.headers]
    if reply.kind:
        kind = f"{reply.kind}; charset=utf-8" if reply.kind.startswith("text/") else reply.kind
        headers.append((b"content-type", kind.encode()))
    if reply.status not in (204, 304):
        headers.append((b"content-length", str(len(reply.body)).encode()))
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": reply.body})

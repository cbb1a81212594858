"""Reports in JSON, read so that no body keeps others waiting: short ones at once, longer ones in a thread of their own.

A long body is first held against the one shape that it may have, which ends at the first thing that does not fit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import msgspec

from deniable.wire.as_json import Places
from deniable.wire.frames import Frame
from deniable.wire.refusals import Refused

MOST_WITHOUT_HEADER = 2**16  # bytes of JSON whose key, if any, is inside
_AT_ONCE = 2**13  # bytes
_MOST_DECODING = 16  # bodies
_BUSY_SECONDS = 1.0


class _Shape(msgspec.Struct, forbid_unknown_fields=True):
    fingerprint: str
    bucket: int
    id: str
    key: str = ""
    segments: list[str] = []
    payload: str = ""
    payloads: list[str] = []
    ids: list[str] = []


class Decoder:
    """Reads bodies of JSON."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, "deniable-json")
        self._decoding = 0

    def close(self) -> None:
        """End the thread."""
        self._pool.shutdown(cancel_futures=True)

    async def read(self, of_json: Callable[[bytes, Places], Frame], body: bytes, places: Places) -> Frame:
        """The frame that a body describes."""
        if len(body) <= _AT_ONCE:
            return of_json(body, places)
        if self._decoding >= _MOST_DECODING:
            raise Refused("busy", "too many large bodies of JSON arrive at once", retry_after=_BUSY_SECONDS)
        self._decoding += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, _read, of_json, body, places)
        finally:
            self._decoding -= 1


def _read(of_json: Callable[[bytes, Places], Frame], body: bytes, places: Places) -> Frame:
    try:
        msgspec.json.decode(body.removeprefix(b"\xef\xbb\xbf"), type=_Shape)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Refused("not-json", f"the body is not the JSON of reports: {error}") from None
    return of_json(body, places)

"""Answers that were given before: the same question about the same published counts has the same answer."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

import msgspec

MOST_BYTES = 2**26
AROUND = 1_024  # bytes that an entry takes beside what is kept, roughly


def key_of(*parts: object) -> bytes:
    """A key for these parts: their digest, since the versions of many cells would take more room than an answer."""
    return hashlib.sha256(msgspec.msgpack.encode(parts)).digest()


class Cache:
    """Bytes by key, the latest used ones, up to a size. A key names the versions of the counts behind its answer."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most = most
        self._lock = Lock()
        self._kept: OrderedDict[bytes, bytes] = OrderedDict()
        self._size = 0
        self.hits = self.misses = 0

    def get(self, key: bytes, make: Callable[[], bytes]) -> bytes:
        """The bytes of this key, made now if they are not kept."""
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
                self.hits += 1
                return found
            self.misses += 1
        made = make()
        with self._lock:
            if key not in self._kept and len(made) + AROUND <= self._most:
                self._kept[key] = made
                self._size += len(made) + AROUND
                while self._size > self._most:
                    self._size -= len(self._kept.popitem(last=False)[1]) + AROUND
        return made

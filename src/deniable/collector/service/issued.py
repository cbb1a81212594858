"""Ids that the server issues: a client that cannot choose its id cannot choose the coin that follows from it.

An id is 8 random bytes and the first 8 bytes of HMAC-SHA256(secret of the collection, random bytes || bucket).
"""

from __future__ import annotations

import hmac
import os
from collections.abc import Iterable

_HALF = 8
_HOUR_BYTES = 4
_PURPOSE = b"deniable: ids"


def secret_of(signer: bytes) -> bytes:
    """The secret of a collection's ids, which follows from its signing key."""
    return hmac.digest(signer, _PURPOSE, "sha256")


def issue(secret: bytes, hour: int, count: int) -> list[bytes]:
    """Draw ids for reports of this bucket."""
    random = os.urandom(_HALF * count)
    nonces = (random[start : start + _HALF] for start in range(0, len(random), _HALF))
    return [nonce + _mark(secret, nonce, hour) for nonce in nonces]


def were_issued(secret: bytes, hour: int, ids: Iterable[bytes]) -> bool:
    """Whether all these ids were issued for this bucket."""
    return all(hmac.compare_digest(each[_HALF:], _mark(secret, each[:_HALF], hour)) for each in ids)


def _mark(secret: bytes, nonce: bytes, hour: int) -> bytes:
    return hmac.digest(secret, nonce + hour.to_bytes(_HOUR_BYTES, "little"), "sha256")[:_HALF]

"""Files with bytes changed, cut out, put in or copied over each other, for tests of what reads them."""

from __future__ import annotations

import random
from collections.abc import Iterator


def damaged(data: bytes, count: int, seed: int) -> Iterator[bytes]:
    """So many versions of a file, each unlike it in some place."""
    rng = random.Random(seed)
    while count:
        found = bytearray(data)
        place, size, how = rng.randrange(len(data)), rng.randrange(1, 40), rng.randrange(10)
        if how < 4:
            found[place] ^= 1 << rng.randrange(8)
        elif how < 7:
            found[place] = rng.randrange(256)
        elif how == 7:
            del found[place : place + size]
        elif how == 8:
            found[place:place] = rng.randbytes(size)
        else:
            other = rng.randrange(len(data))
            found[place : place + size] = data[other : other + size]
        if found != data:
            count -= 1
            yield bytes(found)

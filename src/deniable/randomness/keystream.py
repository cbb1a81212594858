"""Words from AES-256-CTR, with a key from the operating system, or from a seed for simulation only.

Stream s of a key is the AES-256-CTR keystream whose first counter block is s followed by zero, each as 8
big-endian bytes; word j is its bytes 8j .. 8j+7, little-endian.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from deniable.core.arrays import Words
from deniable.core.validate import whole

KEY_BYTES = 32
MODULUS = 2**64  # words are uniform below this
_SEED_LABEL = b"deniable seeded simulation 1\0"
_PIECE = 2**14  # words that are drawn at once
_LITTLE_ENDIAN = np.dtype("<u8")


@dataclass(frozen=True)
class Keystream:
    """The streams of one key. No state is kept between calls, so a forked process cannot repeat words."""

    key: bytes = field(repr=False)
    simulated: bool = False

    @staticmethod
    def fresh() -> Keystream:
        """Return a keystream with a new key from the operating system; fail if there is none."""
        return Keystream(os.urandom(KEY_BYTES))

    @staticmethod
    def seeded(seed: int) -> Keystream:
        """Return the keystream of a seed. For simulation only: it protects nobody."""
        number = whole(0, 2**63 - 1, seed=seed)
        return Keystream(hashlib.sha256(_SEED_LABEL + number.to_bytes(8, "big")).digest(), simulated=True)

    def stream(self, number: int, first: int = 0) -> Stream:
        """Return one stream, to be read from its word `first` on."""
        return Stream(self.key, number, first)

    def overflow(self, report: int) -> Iterator[int]:
        """Yield the words that replace the rejected words of a report."""
        stream = self.stream(1 + report)
        while True:
            yield from stream.words(2).tolist()


class Stream:
    """A stream of words, read forwards."""

    def __init__(self, key: bytes, number: int, first: int = 0) -> None:
        block, half = divmod(first, 2)
        counter = number.to_bytes(8, "big") + block.to_bytes(8, "big")
        self._encryptor = Cipher(algorithms.AES256(key), modes.CTR(counter)).encryptor()
        self._encryptor.update(bytes(8 * half))

    def words(self, count: int) -> Words:
        """Return the next words."""
        if count > _PIECE:
            return self._many(count)
        return np.frombuffer(self._encryptor.update(bytes(8 * count)), _LITTLE_ENDIAN).astype(np.uint64, copy=False)

    def _many(self, count: int) -> Words:
        """Return the next words, written in pieces that stay in the processor's cache."""
        out, zeros = np.empty(count + 2, np.uint64), memoryview(bytes(8 * _PIECE))
        for start in range(0, count, _PIECE):
            self.fill(zeros[: 8 * min(_PIECE, count - start)], out[start:])
        return out[:count]

    def fill(self, zeros: memoryview, out: Words) -> None:
        """Overwrite the start of `out` with the next words, as many as `zeros` holds (a buffer kept by the caller).

        `out` must be two words longer: some releases of `cryptography` require a spare block.
        """
        self._encryptor.update_into(zeros, out.view(np.uint8).data)
        if sys.byteorder == "big":
            out[: len(zeros) // 8].byteswap(inplace=True)

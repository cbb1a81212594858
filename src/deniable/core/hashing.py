"""Public hash functions that all clients share: strings to numbers, numbers to buckets, permutations.

Nothing here is secret, and privacy never depends on it. All arithmetic is on integers, so that it is the same
in every language:

- digest: the first 8 bytes of BLAKE2s (RFC 7693) of the value's bytes under the domain's key, little-endian,
  modulo the prime P = 2^61 - 1. Strings are hashed as UTF-8, without normalisation.
- bucket: floor(m ((a d + b) mod P) / 2^61), d the digest (or the index, in a closed domain). For a random pair
  (a, b) the images of two different numbers are independent and uniform (Carter and Wegman 1979), so they
  share one of m buckets with probability 1/m, up to m/2^61.
- permuted: swap-or-not (Hoang, Morris, Rogaway 2012) with 16 rounds, a permutation of any number of values,
  computed one value at a time. Rounds need 32-bit products only, which processors compute several at a time.

The functions of a mechanism are numbered. The parameters of function i come from BLAKE2s of its purpose, i and a
block number (4 bytes each, little-endian) under the mechanism's seed (8 bytes, little-endian).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from hashlib import blake2s

PRIME = 2**61 - 1
ROUNDS = 16
_WORD = 2**32 - 1


def digest(data: bytes, key: bytes) -> int:
    """Return the hash of these bytes, a number below P."""
    return int.from_bytes(blake2s(data, digest_size=8, key=key).digest(), "little") % PRIME


def affine_maps(seed: int, count: int) -> Iterator[tuple[int, int]]:
    """The pairs (a, b) of hash functions 0 to count - 1; a is not 0."""
    return (affine_map(seed, number) for number in range(count))


def affine_map(seed: int, number: int) -> tuple[int, int]:
    """The pair (a, b) of one hash function; a is not 0."""
    drawn = _drawn("affine", seed, number, 16)
    a = int.from_bytes(drawn[:8], "little") % (PRIME - 1) + 1
    return a, int.from_bytes(drawn[8:], "little") % PRIME


def bucket(number: int, function: tuple[int, int], buckets: int) -> int:
    """The bucket of a digest under one hash function."""
    a, b = function
    # a multiple of P more, so that all numbers are equally long: the time of Python's products tells short ones
    return (a * (number + PRIME) + b) % PRIME * buckets >> 61


def round_keys(seed: int, count: int) -> Iterator[tuple[int, ...]]:
    """The 32-bit words of permutations 0 to count - 1, two for each round."""
    return (round_key(seed, number) for number in range(count))


def round_key(seed: int, number: int) -> tuple[int, ...]:
    """The 32-bit words of one permutation, two for each round."""
    return struct.unpack(f"<{2 * ROUNDS}I", _drawn("permutation", seed, number, 8 * ROUNDS))


def permuted(index: int, keys: Sequence[int], size: int) -> int:
    """Return the image of an index under one permutation of 0..size-1; size is below 2^32."""
    for first, second in zip(keys[::2], keys[1::2], strict=True):
        partner = ((first * size >> 32) + size - index) % size  # of numbers that are never negative
        # both partners test the larger of the two, and so make the same decision; an index, not a branch, obeys it
        swap = mix(second ^ (index, partner)[index < partner]) >> 31
        index = (index, partner)[swap]
    return index


def mix(word: int) -> int:
    """The 32-bit finaliser of MurmurHash3 (Appleby 2011): every output bit depends on every input bit."""
    word = (word ^ word >> 16) * 0x85EBCA6B & _WORD
    word = (word ^ word >> 13) * 0xC2B2AE35 & _WORD
    return word ^ word >> 16


def _drawn(purpose: str, seed: int, number: int, size: int) -> bytes:
    """Return `size` bytes for one function, from BLAKE2s in blocks of 32."""
    key = seed.to_bytes(8, "little")
    blocks = (purpose.encode() + struct.pack("<II", number, block) for block in range(-(-size // 32)))
    return b"".join(blake2s(data, key=key).digest() for data in blocks)[:size]

"""Public hash functions that every client computes alike: strings to numbers, numbers to buckets, permutations.

Nothing here is secret, and privacy never rests on it. All arithmetic is on whole numbers, so that it is the same
in every language:

- digest: the first 8 bytes of BLAKE2s (RFC 7693) of the value's bytes under the domain's key, little-endian,
  modulo the prime P = 2^61 - 1. Strings are hashed as UTF-8, just as they are given.
- bucket: floor(m ((a d + b) mod P) / 2^61), d the digest (or the index, in a closed domain). For a random pair
  (a, b) the images of two different numbers are independent and uniform (Carter and Wegman 1979), so that they
  share one of m buckets with probability 1/m, up to m/2^61.
- permuted: swap-or-not (Hoang, Morris, Rogaway 2012) with 24 rounds, a permutation of any number of values that
  is computed one value at a time.

The functions of a mechanism are numbered; the numbers of function i come from BLAKE2s of its purpose and i under
the mechanism's seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2s

PRIME = 2**61 - 1
ROUNDS = 24
_WORD = 2**64 - 1
_GOLDEN = 0x9E3779B97F4A7C15


def digest(data: bytes, key: bytes) -> int:
    """The number below P that stands for these bytes."""
    return int.from_bytes(blake2s(data, digest_size=8, key=key).digest(), "little") % PRIME


@lru_cache(maxsize=64)
def affine_maps(seed: int, count: int) -> tuple[tuple[int, int], ...]:
    """The pairs (a, b) of hash functions 0 to count - 1; a is not 0."""
    maps = []
    for number in range(count):
        drawn = _expand("affine", seed, number)
        a = int.from_bytes(drawn[:8], "little") % (PRIME - 1) + 1
        maps.append((a, int.from_bytes(drawn[8:], "little") % PRIME))
    return tuple(maps)


def bucket(number: int, function: tuple[int, int], buckets: int) -> int:
    """The bucket of a digest under one hash function."""
    a, b = function
    return (a * number + b) % PRIME * buckets >> 61


@lru_cache(maxsize=64)
def round_keys(seed: int, count: int) -> tuple[tuple[int, ...], ...]:
    """The round keys of permutations 0 to count - 1: SplitMix64 started at a number of their own."""
    starts = (int.from_bytes(_expand("permutation", seed, number)[:8], "little") for number in range(count))
    return tuple(tuple(mix(start + (turn + 1) * _GOLDEN & _WORD) for turn in range(ROUNDS)) for start in starts)


def permuted(index: int, keys: Sequence[int], size: int) -> int:
    """Where one permutation of 0..size-1 sends an index."""
    for key in keys:
        partner = ((key * size >> 64) - index) % size
        # both partners look at the larger of the two, and so swap or stay together
        if mix(key ^ max(index, partner)) >> 63:
            index = partner
    return index


def mix(word: int) -> int:
    """The finaliser of SplitMix64 (Steele, Lea, Flood 2014): every bit of the result depends on every bit given."""
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & _WORD
    word = (word ^ word >> 27) * 0x94D049BB133111EB & _WORD
    return word ^ word >> 31


def _expand(purpose: str, seed: int, number: int) -> bytes:
    data = purpose.encode() + number.to_bytes(4, "little")
    return blake2s(data, digest_size=16, key=seed.to_bytes(8, "little")).digest()

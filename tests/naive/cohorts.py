"""Slow, obvious twins of the kernels about cohorts: every value, function and report by itself."""

from __future__ import annotations

from hashlib import blake2s

from deniable.core.hashing import ROUNDS

P = 2**61 - 1


def digest(data: bytes, key: bytes) -> int:
    return int.from_bytes(blake2s(data, digest_size=8, key=key).digest(), "little") % P


def stream(purpose: bytes, seed: int, number: int, size: int) -> bytes:
    """Bytes of one function: blocks of 32, each the hash of purpose, function and block."""
    found = b""
    while len(found) < size:
        data = purpose + number.to_bytes(4, "little") + (len(found) // 32).to_bytes(4, "little")
        found += blake2s(data, key=seed.to_bytes(8, "little")).digest()
    return found[:size]


def affine_map(seed: int, number: int) -> tuple[int, int]:
    drawn = stream(b"affine", seed, number, 16)
    return int.from_bytes(drawn[:8], "little") % (P - 1) + 1, int.from_bytes(drawn[8:], "little") % P


def bucket(number: int, a: int, b: int, buckets: int) -> int:
    return (a * number + b) % P * buckets // 2**61


def round_words(seed: int, number: int) -> list[int]:
    drawn = stream(b"permutation", seed, number, 8 * ROUNDS)
    return [int.from_bytes(drawn[at : at + 4], "little") for at in range(0, len(drawn), 4)]


def permutation(words: list[int], size: int) -> list[int]:
    """Where every index goes: in each round, pairs that add up to a number modulo the size are swapped or not."""
    places = list(range(size))
    for first, second in zip(words[::2], words[1::2], strict=True):
        total = first * size // 2**32
        moved = {}
        for index in range(size):
            partner = (total - index) % size
            word = second ^ max(index, partner)
            for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
                word = (word ^ (word >> shift)) * factor % 2**32
            moved[index] = partner if (word ^ (word >> 16)) >= 2**31 else index
        places = [moved[place] for place in places]
    return places


def marked(table: list[list[int]], hashes: int, buckets: int) -> list[list[int]]:
    out = [list(row) for row in table]
    for f, row in enumerate(table):
        earlier = table[f - f % hashes : f]
        for i, own in enumerate(row):
            if any(other[i] == own for other in earlier):
                out[f][i] = buckets
    return out


def gather(table: list[list[int]], hashes: int, cells: list[list[float]]) -> list[float]:
    return [sum(cells[f // hashes][row[i]] for f, row in enumerate(table)) for i in range(len(table[0]))]


def scatter(table: list[list[int]], hashes: int, weights: list[float], columns: int) -> list[list[float]]:
    out = [[0.0] * columns for _ in range(len(table) // hashes)]
    for f, row in enumerate(table):
        for i, place in enumerate(row):
            out[f // hashes][place] += weights[i]
    return out


def shared(table: list[list[int]], hashes: int, buckets: int) -> list[list[int]]:
    """In how many cells two values are both; a marked hash is in none."""
    cells = [{(f // hashes, row[i]) for f, row in enumerate(table) if row[i] != buckets} for i in range(len(table[0]))]
    return [[len(a & b) for b in cells] for a in cells]


def replaced(
    numbers: list[int],
    words: list[int],
    buckets_of: list[list[int]],
    bounds: list[int],
    rejections: list[int],
    truth: int,
) -> tuple[list[int], list[bool]]:
    """Hashed randomised response; buckets_of[cohort][i] is the bucket of number i there."""
    out, again = [], []
    for i in range(len(numbers)):
        first, coin, second = words[3 * i : 3 * i + 3]
        cohort, low = divmod(first * bounds[0], 2**64)
        drawn, lower = divmod(second * bounds[1], 2**64)
        again.append(low < rejections[0] or lower < rejections[1])
        own = buckets_of[cohort][i]
        out.append(cohort * bounds[1] + (own if coin < truth else drawn))
    return out, again

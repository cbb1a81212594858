"""Slow, obvious twins of the kernels of Hadamard matrices: every sign by itself."""

from __future__ import annotations

from collections.abc import Sequence


def sign(row: int, column: int) -> int:
    """The entry of the Hadamard matrix: +1 if the two numbers have an even number of ones in common, else -1."""
    return -1 if bin(row & column).count("1") % 2 else 1


def transform(row: Sequence[int]) -> list[int]:
    """The product with the Hadamard matrix."""
    return [sum(sign(i, j) * number for j, number in enumerate(row)) for i in range(len(row))]


def supporters(value: int, blocks: int, size: int) -> list[int]:
    """The reports that support a value of Hadamard Response."""
    number, block = value // blocks + 1, value % blocks
    return [block * (size - 1) + u - 1 for u in range(1, size) if sign(u, number) == 1]


def ordered(value: int, blocks: int, size: int) -> list[int]:
    """All reports in the value's own order: even parities of its block, odd ones, then block by block in the same way.

    Within a half, reports come in the order of the numbers that u is without the lowest one of the value's number.
    """
    number, block = value // blocks + 1, value % blocks
    gap = (number & -number).bit_length() - 1

    def without(u: int) -> int:
        return u % 2**gap + u // 2 ** (gap + 1) * 2**gap

    found = []
    for other in range(blocks):
        for wanted in (1, -1):
            half = [u for u in range(1, size) if sign(u, number) == wanted]
            found += [(block ^ other) * (size - 1) + u - 1 for u in sorted(half, key=without)]
    return found


def choose_parity(
    values: Sequence[int], words: Sequence[int], truth: int, blocks: int, size: int, rejections: Sequence[int]
) -> tuple[list[int], list[bool]]:
    """The reports, and which of them had a draw rejected."""
    reports, again = [], []
    for i, value in enumerate(values):
        coin, first, second = words[3 * i : 3 * i + 3]
        places = ordered(value, blocks, size)
        inside, outside = places[: size // 2 - 1], places[size // 2 - 1 :]
        near, low = divmod(first * len(inside), 2**64)
        far, lower = divmod(second * len(outside), 2**64)
        reports.append(inside[near] if coin < truth else outside[far])
        again.append(low < rejections[0] or lower < rejections[1])
    return reports, again


def send_sign(
    values: Sequence[int], words: Sequence[int], truth: int, blocks: int, rows: int, rejection: int
) -> tuple[list[int], list[bool]]:
    """The reports of Recursive Hadamard Response, and which of them had a draw rejected."""
    reports, again = [], []
    symbols = [(block, mark) for block in range(blocks) for mark in (1, -1)]
    for i, value in enumerate(values):
        coin, first, second = words[3 * i : 3 * i + 3]
        public, low = divmod(second * rows, 2**64)
        own = symbols.index((value % blocks, sign(public + 1, value // blocks)))
        sent = own if coin < truth else first * len(symbols) >> 64
        reports.append(public * len(symbols) + sent)
        again.append(low < rejection)
    return reports, again

"""Inputs that hold the same reports: one file twice, a copy, a file beside its summary, a total beside its parts.

Counting reports twice makes error bars too short without a word. Files are compared by path and inode before they are
read. Afterwards their counts are compared by a mark that adds up as counts do, so that sums of inputs can be compared
without keeping the counts. Small inputs can agree by chance; they are refused only where that is unlikely.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from contextlib import suppress
from hashlib import file_digest
from typing import NamedTuple

import numpy as np

from deniable.cli.running import STANDARD, CommandError
from deniable.core.arrays import Counts, Words

_UNLIKELY = 1e-3  # refused if independent reports would agree less often than this
_MOST = 14  # up to this many parts, all subsets are compared with a total; beyond, runs of neighbours
_OVERRIDE = "Give --allow-repeats if they are from different people."


class Input(NamedTuple):
    """One input: its name and reports, a mark of its counts, and the chances that others have the same.

    `chance` is that of the same counts, `listed` that of the same reports in the same order (1 for a summary).
    """

    name: str
    n: int
    mark: int
    chance: float
    listed: float


def check_paths(names: Sequence[str]) -> None:
    """Refuse a file that is given twice, under one name or several."""
    seen: dict[tuple[int, int], str] = {}
    for name in names:
        if name == STANDARD:
            continue
        with suppress(OSError):  # a missing file is reported when it is opened
            found = os.stat(name)
            place = (found.st_dev, found.st_ino)
            if place in seen:
                same = "is given twice" if seen[place] == name else f"is the same file as {seen[place]}"
                raise CommandError(f"{name}: this file {same}, so its reports would count twice. {_OVERRIDE}")
            seen[place] = name


def described(name: str, n: int, counts: Sequence[Counts], *, reports: bool) -> Input:
    """Describe the counts of one input, and whether it lists reports or is a summary."""
    flat = np.concatenate(counts).astype(np.uint64)
    mark = int((flat * _weights(len(flat))).sum(dtype=np.uint64))
    share = np.clip(flat / max(n, 1), 0.0, 1.0)
    # as if cells were independent; exponents are halved, because the last cell may follow from the others
    chance = math.exp(-0.25 * float(np.log1p(4 * math.pi * n * share * (1 - share)).sum()))
    listed = math.exp(0.5 * n * float(np.log(share**2 + (1 - share) ** 2).sum())) if reports else 1.0
    return Input(name, n, mark, chance, listed)


def check_counts(inputs: Sequence[Input]) -> None:
    """Refuse two inputs with the same reports, and one that is the sum of others."""
    seen: dict[tuple[int, int], Input] = {}
    filled = [each for each in inputs if each.n]
    for each in filled:
        first = seen.setdefault((each.n, each.mark), each)
        if first is not each and (each.chance < _UNLIKELY or _copies(first, each)):
            raise CommandError(
                f"{each.name}: these are the same {each.n:,} reports as in {first.name}, which would count twice. "
                f"{_OVERRIDE}"
            )
    for total in filled:
        smaller = [each for each in filled if each.n < total.n]
        parts, tried = _adding_up(smaller, total)
        if parts and total.chance * tried < _UNLIKELY:
            names = ", ".join(each.name for each in parts)
            raise CommandError(f"{total.name}: this is the sum of {names}, which would count twice. {_OVERRIDE}")


def _copies(one: Input, other: Input) -> bool:
    """Whether two files have the same bytes, and so many reports that their order would not agree by chance."""
    if STANDARD in (one.name, other.name) or max(one.listed, other.listed) >= _UNLIKELY:
        return False
    return _digest(one.name) == _digest(other.name)


def _digest(name: str) -> bytes:
    with open(name, "rb") as file:
        return file_digest(file, "sha256").digest()


def _adding_up(parts: Sequence[Input], total: Input) -> tuple[Sequence[Input], int]:
    """Return two parts or more whose sum is the total, if there are any, and how many sets were tried."""
    if len(parts) > _MOST:
        return _neighbours(parts, total), len(parts)
    sizes, marks = np.zeros(1, np.int64), np.zeros(1, np.uint64)
    for each in parts:  # all subsets: without this part, then with it
        sizes = np.concatenate([sizes, sizes + each.n])
        marks = np.concatenate([marks, marks + np.uint64(each.mark)])
    for found in np.flatnonzero((sizes == total.n) & (marks == np.uint64(total.mark))).tolist():
        chosen = [each for place, each in enumerate(parts) if found >> place & 1]
        if len(chosen) > 1:
            return chosen, len(sizes)
    return [], len(sizes)


def _neighbours(parts: Sequence[Input], total: Input) -> Sequence[Input]:
    """Return neighbouring parts whose sum is the total; each part has reports, so one pass finds them."""
    start, size, mark = 0, 0, 0
    for end, each in enumerate(parts, 1):
        size, mark = size + each.n, (mark + each.mark) % 2**64
        while size > total.n:
            size, mark = size - parts[start].n, (mark - parts[start].mark) % 2**64
            start += 1
        if (size, mark) == (total.n, total.mark) and end - start > 1:
            return parts[start:end]
    return []


def _weights(size: int) -> Words:
    """Fixed odd 64-bit numbers that look random (SplitMix64)."""
    z = np.arange(1, size + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
    return (z ^ (z >> np.uint64(31))) | np.uint64(1)

"""A loop over the footer of a Parquet file, which says where each row group has the pages of each column.

Arrow's own accessors end the process where a footer names a compression that it does not know, or a column that is
encrypted. Nothing is read or written outside the arrays, whatever the bytes say: what is not understood is declined.
"""

from __future__ import annotations

from deniable.core.arrays import Bytes, Integers
from deniable.kernels import SMALL, compiled, part
from deniable.kernels.dictionary_pages import DECLINED, MISSING, number, skipped

# what `chunks` finds of a column of a row group, and whether its pages are encrypted or in another file
KIND, CODEC, VALUES, SIZE, BEGIN, ELSEWHERE = range(6)
FIELDS = 6
_OF_COLUMN = (1, 4, 5, 7, 11)  # the fields of these numbers, in this order
_ELSEWHERE = (1, 8, 9)
# what is kept of each structure or list that others are in: the field read last; of a list, the elements to come and
# their kind
_FIELD, _LEFT, _ELEMENT = range(3)
PLACES = 3
DEPTH = 16  # of structures and lists within each other, at most
_BITS = 63


@part
def _list(data: Bytes, at: int) -> tuple[int, int, int]:
    """The kind of the elements of a list, how many there are, and where they begin."""
    if at >= data.shape[0]:
        return 0, 0, DECLINED
    kind, size = int(data[at]) & 15, int(data[at]) >> 4
    at += 1
    if size == 15:
        size, at = number(data, at, data.shape[0], _BITS)
    return kind, size, at


@part
def _is_group(stack: Integers, depth: int) -> bool:
    """Whether this depth is within a row group: an element of the list that is field 4 of the footer."""
    return bool(depth >= 2 and stack[0, _FIELD] == 4 and stack[1, _LEFT] >= 0)


@part
def _is_column(stack: Integers, depth: int) -> bool:
    """Whether this depth is within a column: an element of the list that is field 1 of a row group."""
    return bool(depth >= 4 and _is_group(stack, depth) and stack[2, _FIELD] == 1 and stack[3, _LEFT] >= 0)


@compiled(small=SMALL)
def chunks(data: Bytes, columns: int, found: Integers, stack: Integers) -> int:
    """Find the columns of all row groups, each of which must have so many: a row of `found` for each. Return how many.

    `stack` has room for what is kept at each depth (Thrift, compact protocol).
    """
    at, depth, groups, chunk = 0, 0, 0, -1
    stack[0, _FIELD], stack[0, _LEFT] = 0, -1
    while 0 <= at < data.shape[0]:
        left = stack[depth, _LEFT]
        if left == 0:
            depth -= 1
            continue
        if left > 0:
            stack[depth, _LEFT] -= 1
            kind = stack[depth, _ELEMENT]
        else:
            kind, ahead = int(data[at]) & 15, int(data[at]) >> 4
            at += 1
            if kind == 0:
                depth -= 1
                if depth < 0:
                    return chunk + 1 if chunk + 1 == groups * columns else DECLINED
                continue
            if ahead == 0:
                return DECLINED
            stack[depth, _FIELD] += ahead
        field = stack[depth, _FIELD]
        if depth == 4 and _is_column(stack, depth) and field in _ELSEWHERE:
            found[chunk, ELSEWHERE] = 1
        if kind in (9, 12):
            depth += 1
            if depth == DEPTH:
                return DECLINED
            stack[depth, _FIELD], stack[depth, _LEFT] = 0, -1
            if kind == 9:
                stack[depth, _ELEMENT], stack[depth, _LEFT], at = _list(data, at)
            elif depth == 2 and _is_group(stack, depth):
                if chunk + 1 != groups * columns:
                    return DECLINED
                groups += 1
            elif depth == 4 and _is_column(stack, depth):
                chunk += 1
                if chunk == found.shape[0]:
                    return DECLINED
                found[chunk] = MISSING
        elif kind in (4, 5, 6):
            value, at = number(data, at, data.shape[0], _BITS)
            if depth == 5 and _is_column(stack, depth) and stack[4, _FIELD] == 3:  # what a column says of itself
                for place, wanted in enumerate(_OF_COLUMN):
                    if field == wanted:
                        found[chunk, place] = (value >> 1) ^ -(value & 1)
        elif left > 0 and kind in (1, 2):  # true or false takes a byte in a list only
            at += 1
        else:
            at = skipped(data, at, kind)
    return DECLINED

"""Payloads as the checks compare them: one by one, counted, and in the layout of a batch."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from deniable.core.arrays import Payloads
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.layouts.layout import Payload


def tally(payloads: Payloads) -> Counter[Payload]:
    """How often each payload occurs in an array of them."""
    widths = [int(most).bit_length() for most in payloads.max(0)] if payloads.ndim == 2 and len(payloads) else []
    if 0 < sum(widths) <= 64:  # numbers are sorted faster than rows, and small ones counted faster than sorted
        starts = np.cumsum([0, *widths[:-1]]).astype(np.uint64)
        numbers = np.zeros(len(payloads), np.uint64)
        for column, start in zip(payloads.T, starts, strict=True):
            numbers |= column.astype(np.uint64) << start
        if sum(widths) <= 16:
            every = np.bincount(numbers.astype(np.intp))
            numbers = np.flatnonzero(every).astype(np.uint64)
            counts = every[numbers]
        else:
            numbers, counts = np.unique(numbers, return_counts=True)
        rows = numbers[:, np.newaxis] >> starts & np.array([2**width - 1 for width in widths], np.uint64)
    else:
        rows, counts = np.unique(payloads, axis=0, return_counts=True)
    return Counter(dict(zip(map(payload_key, rows), counts.tolist(), strict=True)))


def payload_key(entry: Any) -> Payload:
    """A row of a payload array as `layout.all` writes it."""
    return tuple(entry.tolist()) if np.ndim(entry) else int(entry)


def payload_array(m: Mechanism, payloads: list[Payload]) -> Payloads:
    """Payloads in the layout of a batch."""
    out = m.layout.empty(len(payloads))
    for place, payload in enumerate(payloads):
        out[place] = payload
    return out

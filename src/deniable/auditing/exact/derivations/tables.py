"""The channel of matrix: running sums of integer weights, which the spec holds."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from deniable.auditing.exact.channel import Channel
from deniable.auditing.exact.document import WORDS, Document
from deniable.auditing.exact.matrices import Matrix, channel_of
from deniable.core.errors import SpecError


def matrix(document: Document) -> Channel:
    """The weights of each row are the differences of its starts."""
    k, count = document.values, len(document.thresholds)
    reports, uneven = divmod(count, k)
    if uneven or not count:
        raise SpecError(f"spec must have as many starts for each of {k} values, got {count} in all")
    rows = []
    for value in range(k):
        starts = [document.threshold(f"start_{value}_{report}") for report in range(1, reports + 1)]
        weights = [after - before for before, after in pairwise([0, *starts, WORDS])]
        if min(weights) < 0:
            raise SpecError(f"the starts of value {value} must be in rising order")
        rows.append(tuple(Fraction(weight, WORDS) for weight in weights))
    return channel_of(Matrix(tuple(rows), tuple(map(document.label, range(k)))))

"""Numbers as people read them: as many digits as the error leaves meaningful."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

_MOST = 8  # decimals of a percentage


def decimals(errors: Iterable[float]) -> int:
    """Decimals of a percentage that the smallest of these standard errors leaves meaningful.

    >>> decimals([0.0094]), decimals([0.0013]), decimals([0.25])
    (1, 2, 0)
    """
    least = min((error for error in errors if error > 0), default=1e-4)
    first = -math.floor(math.log10(100 * least))  # the decimal of the error's first digit
    leading = 100 * least * 10.0**first
    return min(_MOST, max(0, first + (leading < 2)))  # one digit of the error, two if the first is a 1


def percent(share: float, digits: int) -> str:
    """A share as a percentage, without a minus sign before a zero.

    >>> percent(0.398224, 1), percent(-0.00001, 1)
    ('39.8%', '0.0%')
    """
    text = f"{100 * share:.{digits}f}"
    return f"{text.removeprefix('-') if float(text) == 0 else text}%"


def cells(rows: Iterable[Any]) -> list[list[str]]:
    """Frequency, standard error and both ends of the interval of each row, with the same number of decimals."""
    rows = list(rows)
    digits = decimals(row.std_error for row in rows)
    return [[percent(share, digits) for share in (row.frequency, row.std_error, row.low, row.high)] for row in rows]

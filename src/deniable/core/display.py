"""Numbers and objects as people read them: digits that the error leaves meaningful, short descriptions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

_MOST = 8  # decimals of a percentage
_LABELS = 8  # labels that a description of a domain names
_DIGITS = 12  # digits of a fingerprint in a short description
SIMULATED = "Made with a seed: simulated, and protects nobody."


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


def share_of_users(share: float) -> str:
    """A share with three digits.

    >>> share_of_users(0.0167), share_of_users(0.000187), share_of_users(34.4)
    ('1.67%', '0.0187%', '34.4 times all users')
    """
    return f"{100 * share:.3g}%" if share < 10 else f"{share:.3g} times all users"


def at_most(number: float, digits: int = 3) -> str:
    """Write an upper bound in a few digits, rounded up.

    >>> at_most(0.06843), at_most(1e-6), at_most(4.0)
    ('0.0685', '1e-06', '4')
    """
    if number == 0:
        return "0"
    unit = 10.0 ** (math.floor(math.log10(number)) - digits + 1)
    return f"{math.ceil(number / unit * (1 - 1e-12)) * unit:.{digits}g}"


def cells(rows: Iterable[Any]) -> list[list[str]]:
    """Frequency, standard error and both ends of the interval of each row, with the same number of decimals."""
    rows = list(rows)
    digits = decimals(row.std_error for row in rows)
    return [[percent(share, digits) for share in (row.frequency, row.std_error, row.low, row.high)] for row in rows]


def brief(thing: object, *words: str, **facts: object) -> str:
    """Describe an object in one short line, for `__repr__`; empty words are left out, fingerprints are cut.

    >>> brief(Exception(), "simulated", "", n=f"{5000:,}")
    'Exception(n=5,000, simulated)'
    """
    if "fingerprint" in facts:
        facts["fingerprint"] = f"{str(facts['fingerprint'])[:_DIGITS]}..."
    parts = [*(f"{name}={value}" for name, value in facts.items()), *filter(None, words)]
    return f"{type(thing).__name__}({', '.join(parts)})"


def described(domain: Mapping[str, Any]) -> str:
    """Describe a domain, given as plain data, in words; of many labels only the first."""
    if "labels" in domain:
        listed = [str(label) for label in domain["labels"][:_LABELS]]
        if len(domain["labels"]) > _LABELS:
            listed.append(f"... {len(domain['labels']) - _LABELS:,} more")
    elif domain["kind"] == "open":
        listed = [f"any string of up to {domain['max_bytes']:,} bytes"]
    else:
        listed = [f"whole numbers {domain['low']} to {domain['high']}"]
    return ", ".join([*listed, *(domain[extra] for extra in ("other", "no_answer") if extra in domain)])

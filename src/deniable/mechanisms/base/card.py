"""The card of a mechanism."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from deniable.cards.data import spec_facts
from deniable.cards.markup import card
from deniable.core.display import decimals, percent
from deniable.core.domain.open import Open
from deniable.core.glosses import METHODS

if TYPE_CHECKING:
    from deniable.mechanisms.base.mechanism import Mechanism

_USERS = (10_000, 1_000_000)


def mechanism_card(mechanism: Mechanism) -> str:
    """The question, what a report costs and gives away, and the error to expect."""
    closed = not isinstance(mechanism.domain, Open)  # else errors depend on the candidates
    values = f"{mechanism.k:,} values" if closed else "any strings"
    title = f"{mechanism.name}: {values}, epsilon {mechanism.epsilon:g}, {mechanism.report_bits:,} bits per report"
    method = mechanism.default_method
    lines: list[tuple[str, object]] = [("guarantee", mechanism.guarantee())]
    if closed:
        lines.append(("std. error", "; ".join(_error(mechanism, n) for n in _USERS) + ", of a rare value"))
    lines.append(("estimate by", f"{method}: {METHODS[method]}" if method in METHODS else method))
    return card("Mechanism", title, spec_facts(mechanism.spec, *lines), notes=filter(None, [mechanism.advice()]))


def _error(mechanism: Mechanism, n: int) -> str:
    error = math.sqrt(mechanism.variance(0.0, n))
    return f"{percent(error, decimals([error]))} with {n:,} users"

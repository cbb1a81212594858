"""The choice of a mechanism: the least error, then the fewest bits, then the simplest.

Errors within 1% of each other count as the same. A mechanism whose public coins follow from the ids of reports is
chosen only if the server knows the ids: otherwise reports are anonymous. One whose error is known only on average
over values, so that its intervals hold only on average, is chosen only where no other fits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from deniable.core.domain import MAX_SIZE, Domain
from deniable.core.domain.open import Open
from deniable.core.errors import InvalidArgument
from deniable.core.validate import whole
from deniable.mechanisms.base.definition import checked_epsilon
from deniable.mechanisms.cohorts.sizes import CANDIDATES
from deniable.mechanisms.forecasts.built import attempts, forecast
from deniable.mechanisms.forecasts.forecast import Forecast
from deniable.mechanisms.forecasts.hashed import KINDS, best_open

_FAINTEST = 1e-15  # below it, rounding errors of the formulas are larger than what reports tell
TIE = 0.01  # errors that differ by less are the same
# simplest first; mss is left out, since its search takes longer than all others and csr is better in all respects
CLOSED = ("grr", "oue", "sue", "ss", "hr", "pgr", "csr", "hpgr", "clh", "flh", "olh", "rhr", "blh", "the", "she")
CLOSED_NAMES = [*CLOSED, *sorted(KINDS)]
OPEN_NAMES = ["orr", "hcms", "cms", "orappor"]
OPTIONS = ("ids", "max_bits", "candidates")
_SIMPLICITY = {name: place for place, name in enumerate([*CLOSED, *OPEN_NAMES])}


def candidates_for(
    k: int, epsilon: float, *, listed: bool = True, max_bits: int | None = None
) -> tuple[list[Forecast], dict[str, str]]:
    """All forecasts for k values, or for k candidates of an open domain, and the mechanisms that refuse them."""
    if epsilon < _FAINTEST:
        raise InvalidArgument("epsilon", f"be at least {_FAINTEST:g}, to be told from none", epsilon)
    if listed:
        return attempts(CLOSED_NAMES, lambda name: forecast(name, k, epsilon))
    return attempts(OPEN_NAMES, lambda name: best_open(name, k, epsilon, max_bits))


def best_for(
    domain: Domain,
    epsilon: float,
    *,
    ids: bool = False,
    max_bits: int | None = None,
    candidates: int | None = None,
) -> list[Forecast]:
    """The forecasts for a domain, best first; `candidates` is the number of strings to look for in an open one."""
    listed = not isinstance(domain, Open)
    if listed and candidates is not None:
        raise InvalidArgument("candidates", "be left out", candidates, "This domain lists its values.")
    number = domain.k if listed else whole(2, MAX_SIZE, candidates=CANDIDATES if candidates is None else candidates)
    limit = None if max_bits is None else whole(1, max_bits=max_bits)
    found, left_out = candidates_for(number, checked_epsilon(epsilon), listed=listed, max_bits=limit)
    if not found:
        raise InvalidArgument("domain", "suit a mechanism", domain.kind, next(iter(left_out.values())))
    return ordered(found, ids=ids, max_bits=limit)


def ordered(found: Sequence[Forecast], *, ids: bool = False, max_bits: int | None = None) -> list[Forecast]:
    """The forecasts that may be chosen, best first; raises InvalidArgument if no report is short enough."""
    usable = [each for each in found if ids or not each.by_id]
    fitting = [each for each in usable if max_bits is None or each.sent(ids=ids) <= max_bits]
    if not fitting:
        least = min(each.sent(ids=ids) for each in usable)
        raise InvalidArgument("max_bits", f"be at least {least} here", max_bits, _shorter(found, ids, max_bits))
    preferred = [each for each in fitting if not each.average]
    return [*_best_first(preferred, ids), *_best_first([each for each in fitting if each.average], ids)]


def _best_first(found: Sequence[Forecast], ids: bool) -> list[Forecast]:
    if not found:
        return []
    least = min(each.mean_variance for each in found)
    tied = [each for each in found if same_error(each.mean_variance, least)]
    others = [each for each in found if each not in tied]
    tied.sort(key=lambda each: (each.sent(ids=ids), _SIMPLICITY.get(each.name, len(_SIMPLICITY))))
    return [*tied, *sorted(others, key=lambda each: each.mean_variance)]


def same_error(variance: float, other: float) -> bool:
    """Whether two standard errors differ by less than 1%."""
    return math.sqrt(variance) <= (1 + TIE) * math.sqrt(other)


def _shorter(found: Sequence[Forecast], ids: bool, max_bits: int | None) -> str:
    """Where ids would make reports short enough, say so."""
    names = [each.name for each in found if each.by_id and each.bits <= (max_bits or 0)]
    if ids or not names:
        return "No mechanism has shorter reports."
    return f"If the server knows the ids of reports, {', '.join(names)} fit."

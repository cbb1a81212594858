"""The mechanisms that come next, each with the one reason for or against it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from deniable.core.errors import InvalidArgument
from deniable.mechanisms.forecasts.choice import same_error
from deniable.mechanisms.forecasts.forecast import Forecast

_CLOSE = 1.05  # times the error of the chosen one: worth its shorter reports


@dataclass(frozen=True)
class RunnerUp:
    """A mechanism that was not chosen: its bits per report, its error over that of the chosen one, and the reason.

    `needed` is the number of users, or the epsilon, that it would need where that was the question.
    """

    mechanism: str
    bits: int
    error_ratio: float
    reason: str
    needed: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """All members, for JSON."""
        return dict(self.__dict__)


def selected(chosen: Forecast, found: Sequence[Forecast], *, ids: bool, max_bits: int | None) -> list[Forecast]:
    """The few forecasts that are worth a line beside the chosen one."""
    others = [each for each in found if each.name != chosen.name]
    usable = [each for each in others if ids or not each.by_id]
    bits = chosen.sent(ids=ids)
    close = [each for each in others if error_ratio(each, chosen) <= _CLOSE]
    short = [each for each in close if each.by_id and not ids and each.bits < bits]
    by_id = sorted(short, key=lambda f: (f.bits, f.mean_variance))
    usable = [each for each in usable if chosen.average or not each.average]
    shorter = [each for each in usable if each.sent(ids=ids) < bits]
    tied = [each for each in usable if same_error(each.mean_variance, chosen.mean_variance)]
    barred = [each for each in tied if max_bits is not None and each.sent(ids=ids) > max_bits]
    picked = [
        *by_id[:1],
        *sorted(shorter, key=lambda f: f.mean_variance)[:1],
        *sorted(barred, key=lambda f: f.mean_variance)[:1],
        *sorted(tied, key=lambda f: f.sent(ids=ids))[:2],
        *(each for each in others if each.name == "grr" or chosen.average),
    ]
    return list({each.name: each for each in picked}.values())


def runner_up(
    each: Forecast, chosen: Forecast, *, ids: bool, max_bits: int | None, needed: Callable[[Forecast], float] | None
) -> RunnerUp:
    """The line of one mechanism."""
    sent = each.bits if each.by_id else each.sent(ids=ids)
    return RunnerUp(
        each.name,
        sent,
        error_ratio(each, chosen),
        reason(each, chosen, ids=ids, max_bits=max_bits),
        None if needed is None else _or_none(needed, each),
    )


def error_ratio(each: Forecast, chosen: Forecast) -> float:
    """The standard error of one forecast over that of another, averaged over values."""
    return math.sqrt(each.mean_variance / chosen.mean_variance)


def reason(each: Forecast, chosen: Forecast, *, ids: bool, max_bits: int | None) -> str:
    """Error and bits against those of the chosen one, and what it takes."""
    ratio = error_ratio(each, chosen)
    bits, own = each.bits if each.by_id else each.sent(ids=ids), chosen.sent(ids=ids)
    size = f"in {bits:,} bit{'s' * (bits > 1)} instead of {own:,}" if bits != own else "in reports of the same size"
    text = f"{_error(ratio)} {size}"
    if each.by_id and not ids:
        text += ", if the server knows the id of each report"
    if max_bits is not None and bits > max_bits:
        text += ", above the limit"
    if each.spent < 0.99 * each.epsilon:
        text += f"; spends only {each.spent:.3g} of epsilon"
    return text


def _error(ratio: float) -> str:
    if same_error(max(ratio, 1 / ratio) ** 2, 1.0):
        return "the same error"
    if ratio < 1:
        return f"{1 - ratio:.0%} less error"
    return f"{ratio - 1:.0%} more error" if ratio < 2 else f"{ratio:.3g} times the error"


def _or_none(needed: Callable[[Forecast], float], each: Forecast) -> float | None:
    try:
        return needed(each)
    except InvalidArgument:
        return None

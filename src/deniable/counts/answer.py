"""An answer to a question about noisy counts: a value, its error, and warnings about its use."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from deniable.core.arrays import Floats
from deniable.core.display import brief
from deniable.core.errors import InvalidArgument
from deniable.core.validate import choice, strictly_between
from deniable.counts.moments import Moments, Number, plain

LEVEL = 0.95
METHODS = ("unbiased", "naive", "shrunk")
UNKNOWN = "the variance is estimated as 0, and the error that the noise causes is not known"
PLUG_IN_VARIANCE = "the unbiased estimate of the variance was negative: it is computed as if the noisy counts were true"


class UnreliableAnswer(UserWarning):
    """Issued for an answer whose standard error makes it useless, and for a biased answer in a sum of answers."""


class Ends(NamedTuple):
    """The lower and upper end of an interval."""

    low: Number
    high: Number


@dataclass(frozen=True, eq=False)
class Answer:
    """One answer, or an array of them (`value`, `std_error` and `naive` then have the same shape).

    `std_error` is the root of an unbiased estimate of the variance if the answer is unbiased (infinite where the
    variance is), and the root of the estimated mean square error if it is not. Where the estimate is 0, which happens
    to steps that no noisy count is next to, it is the error that the noise causes at the noisy counts; NaN if that is
    not known. `estimated_variance` then keeps the estimate, for sums. `width` bounds the error of the
    arithmetic, apart from the rounding of the result and of f; it has nothing to do with the noise. `factor` is
    Theorem 5's bound on the ratio of the mean square errors, unbiased over naive. `scale` is the size that answers to
    this question can have; a standard error above it makes the answer useless.
    """

    question: str
    value: Number
    std_error: Number
    naive: Number
    method: str = "unbiased"
    unbiased: bool = True
    width: float = 0.0
    factor: float = math.inf
    scale: float = math.inf
    n: int = 1
    simulated: bool = False
    moments_rule: Callable[[], Moments] | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()
    estimated_variance: Number = None

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to pickle, with the moments if they have been computed; their rule is dropped."""
        found = self.__dict__.get("moments")
        return {**self.__dict__, "moments_rule": None if found is None else partial(_known, found)}

    def __deepcopy__(self, _: Any) -> Answer:
        return self  # it is immutable

    def __copy__(self) -> Answer:
        return self

    @cached_property
    def moments(self) -> Moments | None:
        """Errors of the naive and the unbiased answer at the plug-in, computed on first access."""
        return None if self.moments_rule is None else self.moments_rule()

    @cached_property
    def recommendation(self) -> str:
        """The method with the least estimated mean square error, in words; slow for some questions."""
        if self.moments is None or not self.unbiased:
            return f"{self.method}: the errors of other methods are not known"
        _, errors = _compared(self.moments, np.shape(self.value))
        best = _least(errors)
        listed = ", ".join(f"{name} {math.sqrt(max(errors[name], 0)):.3g}" for name in METHODS)
        note = "" if best == "unbiased" else "; it is biased, so do not add it to other answers"
        return f"{best}, by estimated root mean square errors: {listed}{note}"

    @property
    def bias(self) -> Number:
        """An unbiased estimate of the naive answer's bias, naive minus unbiased; None for a biased answer."""
        return self.naive - self.value if self.unbiased else None

    @property
    def variance(self) -> Number:
        """The unbiased estimate of the variance, of a biased answer the mean square error: what adds up in sums."""
        if self.estimated_variance is not None:
            return self.estimated_variance
        return np.square(self.std_error) if np.ndim(self.std_error) else self.std_error**2

    @cached_property
    def useless(self) -> Any:
        """Whether the standard error exceeds the size that answers to this question can have."""
        found = (np.asarray(self.std_error) > self.scale) | np.isinf(self.std_error)
        return found if found.ndim else bool(found)

    def interval(self, level: float = LEVEL, *, rule: str = "normal") -> Ends:
        """value -+ z standard errors; "normal" for sums of many terms, "chebyshev" for any distribution.

        Both treat the standard error as exact, though it is estimated.
        """
        level = strictly_between(0, 1, level=level)
        if choice(("normal", "chebyshev"), rule=rule) == "normal":
            from statistics import NormalDist

            z = NormalDist().inv_cdf((1 + level) / 2)
        else:
            z = 1 / math.sqrt(1 - level)  # Pr[|error| >= z standard errors] <= 1/z^2
        reach = z * self.std_error + self.width
        return Ends(self.value - reach, self.value + reach)

    def to_dict(self, level: float = LEVEL) -> dict[str, Any]:
        """The answer as plain numbers and text, for JSON; an infinite error is None."""
        low, high = self.interval(level)
        numbers = {"value": self.value, "std_error": self.std_error, "low": low, "high": high, "naive": self.naive}
        return {
            "question": self.question,
            **{name: _jsonable(number) for name, number in numbers.items()},
            "level": level,
            "method": self.method,
            "unbiased": self.unbiased,
            "width": _jsonable(self.width),
            "factor": _jsonable(self.factor),
            "useless": self.useless.tolist() if isinstance(self.useless, np.ndarray) else self.useless,
            "n": self.n,
            "simulated": self.simulated,
            "notes": list(self.notes),
        }

    @property
    def kind(self) -> str:
        """Whether the answer is unbiased, and if not, by which method it was made."""
        return "unbiased" if self.unbiased else f"{self.method}, biased"

    def __repr__(self) -> str:
        facts = {"answers": f"{np.size(self.value):,}"}
        if not np.ndim(self.value):
            facts = {"value": f"{self.value:.6g}", "std_error": f"{self.std_error:.3g}"}
        return brief(self, self.kind, question=self.question, **facts)

    def _repr_html_(self) -> str:
        from deniable.counts.cards import answer_card

        return answer_card(self)

    def __str__(self) -> str:
        if np.ndim(self.value):
            return f"{self.question}: {np.size(self.value):,} answers ({self.kind})"
        lines = [f"{self.question}: {self.value:.6g} +- {self.std_error:.3g} ({self.kind}; naive {self.naive:.6g})"]
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])


def settle(answer: Answer, best: str = "unbiased", known: Callable[[], Number] | None = None) -> Answer:
    """Return the answer by the chosen method, with a warning if its error makes it useless.

    `answer` is the unbiased one, with a rule for its moments if other methods are possible. "auto" takes the method
    with the least estimated mean square error, and "shrunk" only if it gains more than a twentieth. `known` returns
    the variance at the noisy counts, for an estimate of 0; by default it is one of the moments.
    """
    choice((*METHODS, "auto"), best=best)
    if best != "unbiased":
        answer = _chosen(answer, best)
    if answer.unbiased and np.any(np.equal(answer.std_error, 0)):
        answer = _with_known_noise(answer, known)
    if not np.ndim(answer.value) and answer.useless:
        text = (
            f"{answer.question}: the standard error, {answer.std_error:.3g}, exceeds the largest possible answer "
            f"({answer.scale:.3g}): it says nothing about the counts"
        )
        warnings.warn(text, UnreliableAnswer, stacklevel=3)
        answer = replace(answer, notes=(*answer.notes, "useless: " + text.partition(": ")[2]))
    return answer


def _with_known_noise(answer: Answer, known: Callable[[], Number] | None) -> Answer:
    """Replace standard errors that were estimated as 0 by those that the noise causes at the noisy counts."""
    notes = answer.notes
    try:
        moments = answer.moments if known is None else None
        variance = known() if known is not None else math.nan if moments is None else moments.variance
    except InvalidArgument as error:  # such as counts beyond 2^53
        variance, notes = math.nan, (*notes, f"{UNKNOWN}: {error}")
    estimated = np.asarray(answer.std_error, np.float64)
    filled = np.where(estimated == 0, np.sqrt(np.maximum(variance, 0.0)), estimated)
    if not np.any(filled != estimated):
        return answer
    return replace(answer, std_error=plain(filled), estimated_variance=plain(estimated**2), notes=notes)


def _chosen(answer: Answer, best: str) -> Answer:
    moments = answer.moments
    if moments is None:
        raise InvalidArgument("best", "be unbiased for this question", best)
    weights, errors = _compared(moments, np.shape(answer.value))
    best = _least(errors) if best == "auto" else best
    if best == "unbiased":
        return answer
    weight = weights[best]
    value = np.where(weight == 0, answer.naive, weight * np.asarray(answer.value) + (1 - weight) * answer.naive)
    note = f"biased: {best} has an estimated mean square error of {errors[best]:.3g}, unbiased {errors['unbiased']:.3g}"
    if best == "shrunk" and not weight.shape:
        note += f"; shrunk is {float(weight):.3g} unbiased + {1 - float(weight):.3g} naive"
    return replace(
        answer,
        value=plain(value),
        std_error=plain(np.sqrt(np.maximum(moments.mse(weight), 0.0))),
        estimated_variance=None,
        method=best,
        unbiased=False,
        notes=(*answer.notes, note),
    )


def _known(moments: Moments) -> Moments:
    return moments


def _compared(moments: Moments, shape: tuple[int, ...]) -> tuple[dict[str, Floats], dict[str, float]]:
    """Return, by method, the weight of the unbiased answer and the sum of the mean square errors."""
    share = np.nan_to_num(np.asarray(moments.weight(), float), nan=0.0)
    weights = {"unbiased": np.ones(shape), "naive": np.zeros(shape), "shrunk": np.broadcast_to(share, shape)}
    return weights, {name: float(np.sum(moments.mse(weight))) for name, weight in weights.items()}


def _least(errors: dict[str, float]) -> str:
    best = min(("unbiased", "naive"), key=errors.__getitem__)
    return "shrunk" if errors["shrunk"] < 0.95 * errors[best] else best


def _jsonable(number: Any) -> Any:
    if np.ndim(number):
        return [_jsonable(each) for each in np.asarray(number).tolist()]
    return float(number) if math.isfinite(number) else None

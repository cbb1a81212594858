"""Adding the answers of many parties: errors add in squares, biases do not cancel."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence

import numpy as np

from deniable.core.errors import InvalidArgument
from deniable.core.validate import choice
from deniable.counts.answer import Answer, UnreliableAnswer, settle
from deniable.counts.moments import Moments
from deniable.counts.questions.sums import real_numbers


def combine(
    answers: Iterable[Answer],
    *,
    how: str = "sum",
    weights: Sequence[float] | None = None,
    question: str | None = None,
    best: str = "unbiased",
) -> Answer:
    """The sum or mean of answers about independent releases, or their weighted sum, with its standard error.

    A sum of unbiased answers is unbiased, and its error grows with the root of their number. Biases add up in
    proportion to their number: biased answers cause a warning, and the standard error is then a bound that takes all
    biases to have the same sign. So keep the answers unbiased and choose afterwards: `best` applies to their sum as it
    does to one answer.

    >>> import deniable as dn
    >>> parties = [dn.DiscreteLaplace(1.0).release([4, 0, 2], seed=s) for s in range(5)]
    >>> total = dn.combine([dn.debias(lambda x: x**2, p, reduce="sum") for p in parties])
    >>> total.unbiased
    True
    """
    parts = list(answers)
    if not parts or not all(isinstance(part, Answer) for part in parts):
        raise InvalidArgument("answers", "be one or more answers", "none" if not parts else "other things")
    choice(("sum", "mean"), how=how)
    shares = [1.0] * len(parts) if weights is None else real_numbers(weights, "weights")
    if len(shares) != len(parts):
        raise InvalidArgument("weights", f"be {len(parts)} finite numbers", weights)
    if how == "mean":
        shares = [share / len(parts) for share in shares]
    parts = [part for part, share in zip(parts, shares, strict=True) if share]
    shares = [share for share in shares if share]  # 0 times an infinite error counts as no error
    if not parts:
        raise InvalidArgument("weights", "not all be zero", weights)
    if len({np.shape(part.value) for part in parts}) > 1:
        raise InvalidArgument("answers", "have the same shape", sorted({np.shape(part.value) for part in parts}))

    biased = sum(not part.unbiased for part in parts)
    notes: list[str] = []
    if biased:
        text = f"{biased} of {len(parts)} answers are biased: their biases add up instead of averaging out"
        warnings.warn(text, UnreliableAnswer, stacklevel=2)
        notes.append(text)
    squares = sum(share**2 * part.variance for share, part in zip(shares, parts, strict=True) if part.unbiased)
    # root mean square errors of answers whose biases have unknown sign: in the worst case they add
    worst = sum(abs(share) * part.std_error for share, part in zip(shares, parts, strict=True) if not part.unbiased)
    kinds = {part.method for part in parts}
    unknown = biased or any(part.moments_rule is None for part in parts)  # `best` applies to unbiased answers only
    answer = Answer(
        question=question or f"{how} of {len(parts)} answers",
        value=sum(share * part.value for share, part in zip(shares, parts, strict=True)),
        std_error=np.sqrt(squares + worst**2) if np.ndim(parts[0].value) else math.sqrt(squares + worst**2),
        naive=sum(share * part.naive for share, part in zip(shares, parts, strict=True)),
        method=kinds.pop() if len(kinds) == 1 else "mixed",
        unbiased=not biased,
        width=sum(abs(share) * part.width for share, part in zip(shares, parts, strict=True)),
        factor=max(part.factor for part in parts),
        scale=sum(abs(share) * part.scale for share, part in zip(shares, parts, strict=True)),
        n=sum(part.n for part in parts),
        simulated=any(part.simulated for part in parts),
        moments_rule=None if unknown else lambda: _added(parts, shares),
        notes=tuple(notes),
    )
    return settle(answer, best)


def _added(parts: list[Answer], shares: list[float]) -> Moments:
    """Add biases, variances and covariances, as is right for independent answers."""
    found = zip(shares, (part.moments for part in parts), strict=True)
    known = [(share, moments) for share, moments in found if moments is not None]
    return Moments(
        sum(share * moments.bias for share, moments in known),
        sum(share**2 * moments.naive_variance for share, moments in known),
        sum(share**2 * moments.variance for share, moments in known),
        sum(share**2 * moments.covariance for share, moments in known),
    )

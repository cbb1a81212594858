"""The estimation methods every mechanism offers, by name, as functions of what a summary tells.

A mechanism adds methods of its own, or replaces one of these by a better one; see mechanisms/base/server.py.
What each computes, costs and promises is in docs/methods.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from deniable.core.arrays import Counts, Floats
from deniable.core.summary import MAX_COUNT
from deniable.estimation.channel import Operator
from deniable.estimation.intervals import BinomialTails
from deniable.estimation.methods import linear as consistency

UNBIASED = frozenset({"unbiased", "norm"})  # all others are biased


@dataclass(frozen=True)
class Answer:
    """What an estimation method returns: frequencies, and what it has to say about its work."""

    frequencies: Floats
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Evidence:
    """All that a method may know: the unbiased estimate with its noise, and what lies behind it.

    `noise` is that of the target "users". `tails` holds how many reports support each value of a pure
    channel. `operator` is the channel whose reports `counts` counts, where the summary carries the likelihood.
    """

    unbiased: Floats
    n: int
    noise: tuple[float, float, float]
    counts: Counts
    tails: BinomialTails | None = None
    operator: Operator | None = None


Method = Callable[[Evidence], Answer]


def family(*, pure: bool, likelihood: bool) -> dict[str, Method]:
    """The methods, best first: some need a summary that carries the likelihood, one needs a pure channel."""
    return {
        **(_LIKELIHOOD if likelihood else {}),
        "projected": _projected,
        **(_PURE if pure else {}),
        **_LINEAR,
    }


def _iterated(evidence: Evidence) -> Answer:
    from deniable.estimation.methods.iterative import iterate
    from deniable.estimation.methods.simplex import nearest_distribution

    found = iterate(evidence.counts, _channel(evidence), start=nearest_distribution(evidence.unbiased))
    work = {"gap": found.gap, "updates": found.updates, "newton_steps": found.newton_steps}
    return Answer(found.frequencies, work)


def _reduced(evidence: Evidence) -> Answer:
    from deniable.estimation.methods.mixture_reduction import details, reduced

    found = reduced(evidence.counts, _channel(evidence), evidence.unbiased, evidence.noise[0])
    return Answer(found.frequencies, details(found))


def _weighted(evidence: Evidence) -> Answer:
    from deniable.estimation.methods.least_squares import weighted

    found = weighted(evidence.counts, _channel(evidence), evidence.unbiased)
    return Answer(found.frequencies, {"steps": found.steps})


def _projected(evidence: Evidence) -> Answer:
    from deniable.estimation.methods.simplex import nearest_distribution, projected

    tails = evidence.tails
    if tails is not None and evidence.n * len(tails.support) < MAX_COUNT:  # so that sums of counts fit 64 bits
        return Answer(projected(tails.support, tails.n, tails.channel))
    return Answer(nearest_distribution(evidence.unbiased))


def _power(evidence: Evidence) -> Answer:
    from deniable.estimation.methods.power_law import posterior_mean

    return Answer(posterior_mean(evidence.unbiased, evidence.n, evidence.noise[0]))


def _power_projected(evidence: Evidence) -> Answer:
    from deniable.estimation.methods.simplex import nearest_distribution

    return Answer(nearest_distribution(_power(evidence).frequencies))


def _channel(evidence: Evidence) -> Operator:
    assert evidence.operator is not None
    return evidence.operator


_LIKELIHOOD: dict[str, Method] = {
    "mle": _iterated,
    "ibu": _iterated,
    "gls": _weighted,
    "mixture-reduction": _reduced,
}
_PURE: dict[str, Method] = {
    "mle-apx": lambda given: Answer(consistency.gaussian_likelihood(given.unbiased, given.noise)),
}
_LINEAR: dict[str, Method] = {
    "normalized": lambda given: Answer(consistency.rescaled(given.unbiased)),
    "norm-cut": lambda given: Answer(consistency.largest_first(given.unbiased)),
    "power-ns": _power_projected,
    "power": _power,
    "base-cut": lambda given: Answer(consistency.significant(given.unbiased, given.n, given.noise)),
    "base-pos": lambda given: Answer(consistency.positive_part(given.unbiased)),
    "norm": lambda given: Answer(consistency.shifted(given.unbiased)),
    "unbiased": lambda given: Answer(given.unbiased),
}

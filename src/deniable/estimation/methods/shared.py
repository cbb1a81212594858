"""The estimation methods every mechanism offers, by name, as functions of the evidence.

A mechanism adds its own methods, or replaces one of these by a better one; see mechanisms/base/mechanism.py.
docs/methods.md says what each method computes, costs and guarantees.
"""

from __future__ import annotations

from deniable.core.summary import MAX_COUNT
from deniable.estimation.channel import Operator
from deniable.estimation.evidence import Evidence, Method, Solution
from deniable.estimation.methods import linear

UNBIASED = frozenset({"unbiased", "norm"})  # all others are biased


def shared_methods(*, pure: bool, likelihood: bool) -> dict[str, Method]:
    """The methods, best first: some need a summary that carries the likelihood, one needs a pure channel."""
    return {
        **(_LIKELIHOOD if likelihood else {}),
        "projected": _projected,
        **(_PURE if pure else {}),
        **_LINEAR,
    }


def _iterated(evidence: Evidence) -> Solution:
    from deniable.estimation.methods.iterative import iterate
    from deniable.estimation.methods.simplex import nearest_distribution

    unbiased = evidence.unbiased
    found = iterate(evidence.counts, _channel(evidence), start=nearest_distribution(unbiased), near=unbiased)
    work = {"gap": found.gap, "updates": found.updates, "newton_steps": found.newton_steps}
    return Solution(found.frequencies, work)


def _reduced(evidence: Evidence) -> Solution:
    from deniable.estimation.methods.mixture_reduction import details, reduced

    found = reduced(evidence.counts, _channel(evidence), evidence.unbiased, evidence.noise[0])
    return Solution(found.frequencies, details(found))


def _weighted(evidence: Evidence) -> Solution:
    from deniable.estimation.methods.least_squares import weighted

    found = weighted(evidence.counts, _channel(evidence), evidence.unbiased)
    return Solution(found.frequencies, {"steps": found.steps})


def _projected(evidence: Evidence) -> Solution:
    from deniable.estimation.methods.simplex import nearest_distribution, projected

    tails = evidence.tails
    if tails is not None and evidence.n * len(tails.support) < MAX_COUNT:  # so that sums of counts fit 64 bits
        return Solution(projected(tails.support, tails.n, tails.channel))
    return Solution(nearest_distribution(evidence.unbiased))


def _power(evidence: Evidence) -> Solution:
    from deniable.estimation.methods.power_law import posterior_mean

    return Solution(posterior_mean(evidence.unbiased, evidence.n, evidence.noise[0]))


def _power_projected(evidence: Evidence) -> Solution:
    from deniable.estimation.methods.simplex import nearest_distribution

    return Solution(nearest_distribution(_power(evidence).frequencies))


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
    "mle-apx": lambda given: Solution(linear.gaussian_likelihood(given.unbiased, given.noise)),
}
_LINEAR: dict[str, Method] = {
    "normalized": lambda given: Solution(linear.rescaled(given.unbiased)),
    "norm-cut": lambda given: Solution(linear.largest_first(given.unbiased)),
    "power-ns": _power_projected,
    "power": _power,
    "base-cut": lambda given: Solution(linear.significant(given.unbiased, given.n, given.noise)),
    "base-pos": lambda given: Solution(linear.positive_part(given.unbiased)),
    "norm": lambda given: Solution(linear.shifted(given.unbiased)),
    "unbiased": lambda given: Solution(given.unbiased),
}

"""The server's half of every mechanism: from evidence to an estimate with its error bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.arrays import Floats
from deniable.core.domain import Domain
from deniable.core.errors import InvalidArgument, MalformedReport, kind_of
from deniable.core.estimate import Estimate
from deniable.core.reports import Report, Reports
from deniable.core.summary import Summary
from deniable.estimation.channel import Noise, noise_at
from deniable.estimation.evidence import Evidence, Solution
from deniable.estimation.intervals import ScoreIntervals
from deniable.estimation.methods.shared import UNBIASED, shared_methods
from deniable.estimation.tails import PoissonTails, Tails
from deniable.estimation.weighted_sums import EstimatedSums
from deniable.mechanisms.layouts.layout import one_row

if TYPE_CHECKING:
    from deniable.mechanisms.base.mechanism import Mechanism

_BY_BINOMIAL = (
    "Per value: the score test of the count, inverted, or its exact binomial tails where the count is small. For all "
    "values at once: exact binomial tails."
)
_BY_POISSON = (
    "Per value: the score test, inverted, or Poisson tails of the same variance and largest step where few reports "
    "matter. For all values at once: the same at a level divided among them."
)
_MOVED = " Moved into [0, 1] and widened to hold this estimate, which only adds coverage."

KEPT = "mle-reports"  # the one method that needs the reports themselves


def batch_of(mechanism: Mechanism, singles: Sequence[Report]) -> Reports:
    """Join single reports, as a server decodes them one at a time, into one batch."""
    data = mechanism.layout.empty(len(singles))
    for place, report in enumerate(singles):
        if not isinstance(report, Report):
            raise MalformedReport(f"entry {place} must be a Report like the first, got {kind_of(report)}")
        mechanism.same_spec("a report", report.fingerprint)
        data[place] = mechanism.layout.check(one_row(report.payload))[0]
    return Reports(data, mechanism.fingerprint, any(report.simulated for report in singles))


def estimated(mechanism: Mechanism, evidence: Evidence, kept: Reports | None, method: str, target: str) -> Estimate:
    """Estimate by this method, from the evidence and, where they were kept, the reports."""
    if method == KEPT and kept is not None:
        solution = _from_reports(mechanism, kept, evidence)
    else:
        solution = mechanism.method_functions[method](evidence)
    noise, tails = mechanism.noise_of(evidence, target), evidence.tails
    return assembled(
        mechanism,
        evidence.summary,
        domain=mechanism.domain,
        frequencies=solution.frequencies,
        unbiased=evidence.unbiased,
        noise=noise,
        tails=tails or PoissonTails(evidence.unbiased, evidence.n, noise, mechanism.steps_of(evidence, target)),
        method=method,
        target=target,
        is_unbiased=method in UNBIASED,
        note=(_BY_POISSON if tails is None else _BY_BINOMIAL) + ("" if method == "unbiased" else _MOVED),
        details=solution.details,
        combines=True,
    )


def _from_reports(mechanism: Mechanism, kept: Reports, evidence: Evidence) -> Solution:
    operator = mechanism.reports_operator(mechanism.layout.check(kept.data))
    if operator is not None:
        evidence = replace(evidence, counts=np.ones(len(kept), np.int64), operator=operator)
    elif evidence.operator is None:
        hint = f"{mechanism.name} has no likelihood from reports yet."
        raise InvalidArgument("method", f"be one of {', '.join(mechanism.methods)}", KEPT, hint)
    return shared_methods(pure=False, likelihood=True)["mle"](evidence)


def assembled(
    mechanism: Mechanism,
    summary: Summary,
    *,
    domain: Domain,
    frequencies: Floats,
    unbiased: Floats,
    noise: Noise,
    tails: Tails,
    method: str,
    target: str,
    is_unbiased: bool,
    note: str,
    details: Mapping[str, Any],
    combines: bool = False,
) -> Estimate:
    """Join a method's frequencies with the error bars of the unbiased estimate behind them."""
    moved, inside = None if frequencies is unbiased else frequencies, np.clip(frequencies, 0.0, 1.0)
    variance = tails.variance(inside) if isinstance(tails, PoissonTails) else noise_at(noise, inside)
    rule = ScoreIntervals(unbiased, summary.n, noise, moved, tails)
    return Estimate(
        domain=domain,
        frequencies=_frozen(frequencies),
        std_error=_frozen(np.sqrt(variance / summary.n)),
        n=summary.n,
        method=method,
        target=target,
        unbiased=is_unbiased,
        interval_rule=rule,
        interval_note=note,
        fingerprint=mechanism.fingerprint,
        simulated=summary.simulated,
        details=details,
        sums=_sums(mechanism, summary, unbiased, noise, rule, target) if combines else None,
        influence=mechanism.influence[1] if mechanism.influence is not None else None,
    )


def _sums(
    mechanism: Mechanism, summary: Summary, unbiased: Floats, noise: Noise, rule: ScoreIntervals, target: str
) -> EstimatedSums:
    plain, supporters = replace(rule, constrained=None), partial(mechanism.supporters, summary)
    ask = mechanism.variances_of, noise, plain, supporters, mechanism.additions
    return EstimatedSums(unbiased, summary.n, target, *ask)


def _frozen(array: Floats) -> Floats:
    array.setflags(write=False)
    return array

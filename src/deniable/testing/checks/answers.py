"""What a mechanism promises of the answers it gives: likelihood, support, tails, and the truth by every method.

Like those in checks they take a mechanism and fail with AssertionError; all of them enumerate every report
there is, so that none has false alarms.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from deniable.core.arrays import Floats
from deniable.core.errors import InvalidArgument
from deniable.core.reports import Reports
from deniable.core.summary import Summary
from deniable.estimation.channel import PureChannel, noise_at
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.hadamard.blocks import HadamardMechanism
from deniable.mechanisms.layouts.layout import Payload
from deniable.testing.checks.channel import check_operator_is, check_operator_is_the_channel
from deniable.testing.checks.payloads import payload_array
from deniable.testing.expectations import refused, require, require_alike, require_equal
from deniable.testing.traits import USUAL, Traits

_MANY = 10**12  # users, so many that every report is as frequent as it is likely
_BY_ASSUMED_HASHES = "sketch"  # the published estimate: right on average over hash functions, not for those there are

Columns = dict[Payload, list[Fraction]]  # of each report, its probability under each value


def check_likelihood(m: Mechanism, seed: int, traits: Traits = USUAL) -> None:
    """The likelihood is that of the channel: of a summary, or of the reports where it keeps less than they do."""
    if traits.summary_keeps_all:
        why = "operator() must state the likelihood; if a summary keeps less than the reports, say so in the traits"
        require(m.operator() is not None, why)
        check_operator_is_the_channel(m, seed)
        check_evidence_is_the_likelihood(m)
        return
    require(m.operator() is None, "a summary that keeps less than the reports must not claim to carry the likelihood")
    check_reports_have_their_likelihood(m, seed)


def check_evidence_is_the_likelihood(m: Mechanism) -> None:
    """Methods see a channel that may leave out what tells nothing: the likelihood up to a factor of the report."""
    for payload, column in _columns(m).items():
        evidence = m.evidence(m.summarize(payload_array(m, [payload])))
        if evidence.operator is None:
            raise AssertionError("the evidence must hold the operator: state summary_keeps_all=False if there is none")
        likelihood = evidence.operator.adjoint(evidence.counts.astype(float))
        wanted = np.array(column, float)
        require_alike(likelihood / likelihood.sum(), wanted / wanted.sum(), f"the likelihood of report {payload!r}")


def check_reports_have_their_likelihood(m: Mechanism, seed: int) -> None:
    """Up to a factor of the report, which does not move the maximum; or it is refused to look for one."""
    columns = _columns(m)
    data = payload_array(m, list(columns))
    operator = m.reports_operator(data)
    if operator is None:
        with refused(InvalidArgument, "no likelihood from reports", "mle-reports"):
            m.estimate(Reports(data, m.fingerprint), "mle-reports")
        return
    matrix = np.array(list(columns.values()), float).T
    factors = operator.forward(np.ones(m.k)) / matrix.sum(0)
    require((factors > 0).all(), "every report must be possible")
    check_operator_is(operator, matrix * factors, seed)


def check_support(m: Mechanism) -> None:
    """A report supports the values under which it is likeliest, and the estimate follows from how many do."""
    in_blocks = isinstance(m, HadamardMechanism) and m.agreement.blocks > 1  # support is counted in one block only
    says_nothing = type(m).support_counts is Mechanism.support_counts and m.channel is None
    if in_blocks or says_nothing:
        require(m.channel is None, "a pure mechanism must count the reports that support a value")
        return
    columns = _columns(m)
    summaries = {payload: m.summarize(payload_array(m, [payload])) for payload in columns}
    support = {payload: m.support_counts(summary).tolist() for payload, summary in summaries.items()}
    channel = m.channel
    _check_marks(columns, support, channel)
    if channel is None:
        return
    for payload, summary in summaries.items():
        # (support/n - q)/(p - q) with n = 1
        wanted = [float((marked - channel.q) / channel.gain) for marked in support[payload]]
        require_alike(m.unbiased(summary), wanted, f"the unbiased estimate from report {payload!r}", rtol=1e-11)


def check_tails(m: Mechanism, seed: int) -> None:
    """Pure mechanisms, and no others, have binomial tails; their counts and probabilities are those of the channel."""
    columns = _columns(m)
    times = np.random.default_rng(seed).integers(1, 9, len(columns))
    several = m.tails(m.summarize(payload_array(m, list(columns)).repeat(times, axis=0)))
    if m.channel is None:
        require(several is None, "a mechanism without a pure channel has no binomial tails")
        return
    if several is None:
        raise AssertionError("a pure mechanism must have tails")
    require_equal(several.n, int(times.sum()), "the number of reports in the tails")
    support = {}
    for payload in columns:
        single = m.tails(m.summarize(payload_array(m, [payload])))
        if single is None:
            raise AssertionError("a pure mechanism must have tails of every summary")
        require_equal(single.n, 1, "the number of reports in the tails")
        require_equal(single.channel, several.channel, "the channel of the tails")
        support[payload] = single.support.tolist()
    _check_marks(columns, support, several.channel)
    together = (times @ np.array(list(support.values()))).tolist()
    require_equal(several.support.tolist(), together, "the support in the tails of several reports")


def _check_marks(columns: Columns, support: dict[Payload, list[int]], channel: PureChannel | None) -> None:
    for payload, column in columns.items():
        if len(set(column)) > 1:
            likeliest = [int(chance == max(column)) for chance in column]
            require_equal(support[payload], likeliest, f"what report {payload!r} supports")
        else:  # one that fits all values alike supports all or none; which, the two probabilities tell
            alike = support[payload] in ([0] * len(column), [1] * len(column))
            require(alike, f"report {payload!r} fits all values alike, and must support all or none")
    if channel is None:
        return
    k = len(next(iter(columns.values())))
    for own in range(k):
        for value in range(k):
            supported = sum(column[own] for payload, column in columns.items() if support[payload][value])
            stated = channel.p if own == value else channel.q
            require_equal(supported, stated, f"the chance that a report of value {own} supports value {value}")


def check_methods_find_the_truth(m: Mechanism) -> None:
    """Every method finds the truth from reports as frequent as they are likely."""
    true, summary = _expected(m, _columns(m))
    require(m.default_method in m.methods, f"the default method, {m.default_method!r}, must be among the methods")
    # reports are whole, so that counts are off by 1e-12, which an estimate multiplies
    rounding = 1e-9 * max(1.0, m.variance(0.0) ** 0.5)
    for method in m.methods:
        if method != _BY_ASSUMED_HASHES:
            found = m.estimate(summary, method).frequencies
            off = np.abs(found - true)
            near = (off <= rounding + 1e-7 * true).all()
            require(near, f"{method} must find the truth, and is off by {off.max():.3g}")


def check_errors_are_those_of_every_value(m: Mechanism) -> None:
    """The error bars of every value have the variance of its estimate for the users there are."""
    columns = _columns(m)
    true, summary = _expected(m, columns)
    chance = np.array(list(columns.values()), float).T
    says = np.array([m.unbiased(m.summarize(payload_array(m, [payload]))) for payload in columns])
    exact = true @ (chance @ says**2 - np.eye(m.k))
    for target, sampling in (("users", 0.0), ("population", true * (1 - true))):
        stated = noise_at(m.noise_of(m.evidence(summary), target), true) * np.ones(m.k)
        require_alike(stated, exact + sampling, f"the variance of each value by noise_of, for {target},", rtol=1e-6)


def _expected(m: Mechanism, columns: Columns) -> tuple[Floats, Summary]:
    """Frequencies of which no two are equal and none is small, and reports as frequent as they are then likely."""
    true = np.arange(1, m.k + 1) / (m.k * (m.k + 1) / 2)
    times = np.rint(_MANY * np.array(list(columns.values()), float) @ true).astype(np.int64)
    cells = np.array([m.summarize(payload_array(m, [payload])).counts for payload in columns])
    return true, Summary(times @ cells, int(times.sum()), m.fingerprint)


def _columns(m: Mechanism) -> Columns:
    return {payload: [m._probability(payload, index) for index in range(m.k)] for payload in m.layout.all()}

"""What a mechanism promises of the answers it gives: likelihood, support, tails, and the truth by every method.

Like those in checks they take a mechanism and fail with AssertionError; all of them enumerate every report
there is, so that none has false alarms.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import deniable as dn
from deniable.estimation.channel import PureChannel
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.hadamard.blocks import HadamardMechanism
from deniable.mechanisms.layouts.layout import Payload
from tests.contract import cases
from tests.contract import checks as contract

_MANY = 10**12  # users, so many that every report is as frequent as it is likely
_BY_ASSUMED_HASHES = "sketch"  # the published estimate: right on average over hash functions, not for those there are

Columns = dict[Payload, list[Fraction]]  # of each report, its probability under each value


def check_likelihood(m: Mechanism, seed: int) -> None:
    """That of a summary, or of the reports themselves where a summary keeps less than they do."""
    if cases.of(m.name).summary_keeps_all:
        contract.check_operator_is_the_channel(m, seed)
        check_evidence_is_the_likelihood(m)
        return
    assert m.operator() is None, "a summary that keeps less than the reports does not carry the likelihood"
    check_reports_have_their_likelihood(m, seed)


def check_evidence_is_the_likelihood(m: Mechanism) -> None:
    """Methods see a channel that may leave out what tells nothing: the likelihood up to a factor of the report."""
    for payload, column in _columns(m).items():
        evidence = m.evidence(m.summarize(contract.payload_array(m, [payload])))
        assert evidence.operator is not None
        likelihood = evidence.operator.adjoint(evidence.counts.astype(float))
        wanted = np.array(column, float)
        np.testing.assert_allclose(likelihood / likelihood.sum(), wanted / wanted.sum(), rtol=1e-12)


def check_reports_have_their_likelihood(m: Mechanism, seed: int) -> None:
    """Up to a factor of the report, which does not move the maximum; or it is refused to look for one."""
    columns = _columns(m)
    data = contract.payload_array(m, list(columns))
    operator = m.reports_operator(data)
    if operator is None:
        with pytest.raises(dn.InvalidArgument, match="no likelihood from reports"):
            m.estimate(dn.Reports(data, m.fingerprint), "mle-reports")
        return
    matrix = np.array(list(columns.values()), float).T
    factors = operator.forward(np.ones(m.k)) / matrix.sum(0)
    assert (factors > 0).all()
    contract.check_operator_is(operator, matrix * factors, seed)


def check_support(m: Mechanism) -> None:
    """A report supports the values under which it is likeliest, and the estimate follows from how many do."""
    in_blocks = isinstance(m, HadamardMechanism) and m.agreement.blocks > 1  # support is counted in one block only
    says_nothing = type(m).support_counts is Mechanism.support_counts and m.channel is None
    if in_blocks or says_nothing:
        assert m.channel is None, "a pure mechanism counts the reports that support a value"
        return
    columns = _columns(m)
    summaries = {payload: m.summarize(contract.payload_array(m, [payload])) for payload in columns}
    support = {payload: m.support_counts(summary).tolist() for payload, summary in summaries.items()}
    channel = m.channel
    _check_marks(columns, support, channel)
    if channel is None:
        return
    for payload, summary in summaries.items():
        # (support/n - q)/(p - q) with n = 1
        wanted = [float((marked - channel.q) / channel.gain) for marked in support[payload]]
        np.testing.assert_allclose(m.unbiased(summary), wanted, rtol=1e-11)


def check_tails(m: Mechanism, seed: int) -> None:
    """Pure mechanisms, and no others, have tails; their counts and probabilities are those of the channel."""
    columns = _columns(m)
    times = np.random.default_rng(seed).integers(1, 9, len(columns))
    several = m.tails(m.summarize(contract.payload_array(m, list(columns)).repeat(times, axis=0)))
    if m.channel is None:
        assert several is None
        return
    assert several is not None
    assert several.n == times.sum()
    support = {}
    for payload in columns:
        single = m.tails(m.summarize(contract.payload_array(m, [payload])))
        assert single is not None
        assert single.n == 1
        assert single.channel == several.channel
        support[payload] = single.support.tolist()
    _check_marks(columns, support, several.channel)
    assert several.support.tolist() == (times @ np.array(list(support.values()))).tolist()


def _check_marks(columns: Columns, support: dict[Payload, list[int]], channel: PureChannel | None) -> None:
    for payload, column in columns.items():
        if len(set(column)) > 1:
            assert support[payload] == [chance == max(column) for chance in column], payload
        else:  # one that fits all values alike supports all or none; which, the two probabilities tell
            assert support[payload] in ([0] * len(column), [1] * len(column)), payload
    if channel is None:
        return
    k = len(next(iter(columns.values())))
    for own in range(k):
        for value in range(k):
            supported = sum(column[own] for payload, column in columns.items() if support[payload][value])
            assert supported == (channel.p if own == value else channel.q)


def check_methods_find_the_truth(m: Mechanism) -> None:
    """From reports as frequent as they are likely, when no two values are equally frequent and none is rare."""
    true = np.arange(1, m.k + 1) / (m.k * (m.k + 1) / 2)
    columns = _columns(m)
    times = np.rint(_MANY * np.array(list(columns.values()), float) @ true).astype(np.int64)
    cells = np.array([m.summarize(contract.payload_array(m, [payload])).counts for payload in columns])
    summary = dn.Summary(times @ cells, int(times.sum()), m.fingerprint)
    assert m.default_method in m.methods
    for method in m.methods:
        if method != _BY_ASSUMED_HASHES:
            found = m.estimate(summary, method).frequencies
            np.testing.assert_allclose(found, true, atol=1e-9, err_msg=method)


def _columns(m: Mechanism) -> Columns:
    return {payload: [m._probability(payload, index) for index in range(m.k)] for payload in m.layout.all()}

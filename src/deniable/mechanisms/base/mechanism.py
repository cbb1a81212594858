"""What every mechanism does: randomise values, encode and decode reports, summarise them, and estimate."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from deniable.core.arrays import Bytes, Counts, Floats, Indices, Mask, Payloads
from deniable.core.domain.columns import is_arrow
from deniable.core.errors import EmptySummary, InvalidArgument, MalformedReport, kind_of
from deniable.core.estimate import Estimate
from deniable.core.reports import PRIVATIZE_FIRST, Report, Reports
from deniable.core.summary import Summary
from deniable.core.validate import between, choice, whole
from deniable.estimation.channel import TARGETS, Noise, Operator, noise_at
from deniable.estimation.evidence import Evidence, Method
from deniable.estimation.methods.shared import shared_methods
from deniable.estimation.operators.two_level import ListingTwoLevelOperator, TwoLevelOperator
from deniable.estimation.tails import BinomialTails, Steps
from deniable.mechanisms.base import client
from deniable.mechanisms.base.accumulator import Accumulator
from deniable.mechanisms.base.counting import counted
from deniable.mechanisms.base.definition import Definition
from deniable.mechanisms.base.server import KEPT, batch_of, estimated
from deniable.mechanisms.layouts.codes import as_bytes, cut, listed, stacked
from deniable.mechanisms.layouts.layout import Payload, one_row, raw
from deniable.randomness.choices import Choices
from deniable.randomness.keystream import Keystream


@dataclass(frozen=True)
class Mechanism(Definition):
    """Any mechanism. `RandomizedResponse` is the shortest example of one.

    A pure mechanism (`channel` is not None) counts the reports that support each value, `support_counts`; all that is
    linear follows from its two probabilities. Any other mechanism defines `unbiased` and `noise` itself.
    """

    def _repr_html_(self) -> str:
        from deniable.mechanisms.base.card import mechanism_card

        return mechanism_card(self)

    def privatize(self, values: Any, *, seed: int | None = None) -> Reports:
        """Randomise a batch of values, one per person, with fresh secure randomness.

        Two calls on one person's value compose: their epsilons add up, so ask once, or keep the report and
        send it again. With a seed the reports are reproducible, marked simulated, and protect nobody.
        """
        indices = self.domain.indices(values)
        keystream = Keystream.fresh() if seed is None else Keystream.seeded(seed)
        return Reports(self.payloads(indices, keystream), self.fingerprint, keystream.simulated)

    def privatize_one(self, value: object) -> Report:
        """Randomise one person's value in plain Python: what a device runs."""
        index = self.domain.index(value)
        keystream = Keystream.fresh()
        words = keystream.stream(0).words(self.stride)
        return Report(self.randomize_one(index, Choices(words, keystream.overflow(0))), self.fingerprint)

    def payloads(self, indices: Indices, keystream: Keystream) -> Payloads:
        """Randomise these indices with this keystream; plain Python and the kernel make the same reports."""
        return client.payloads(self, indices, keystream)

    def simulated_counts(self, true_counts: Counts, generator: np.random.Generator) -> Counts:
        return client.simulated_one_by_one(self, true_counts, generator)

    def encode(self, report: Report) -> bytes:
        """Encode the payload of one report; simulated reports are refused."""
        client.check_sendable(report, Report, "encode")
        return self.layout.pack(self._payload(report))

    def decode(self, data: bytes) -> Report:
        """Decode and check one report."""
        return Report(self.layout.unpack(as_bytes(data)), self.fingerprint)

    def encode_many(self, reports: Reports) -> list[bytes]:
        """Encode the payloads of a batch, to the same bytes as one by one; simulated reports are refused."""
        return listed(self._codes(reports, "encode_many"))

    def decode_many(self, data: Iterable[bytes]) -> Reports:
        """Decode and check a batch of reports; an error names the position of the first that is wrong."""
        return Reports(self.layout.unpack_many(stacked(data, self.layout.code_size)), self.fingerprint)

    def encode_joined(self, reports: Reports) -> bytes:
        """Encode a batch end to end: every report of a spec has the same number of bytes."""
        return self._codes(reports, "encode_joined").tobytes()

    def decode_joined(self, data: bytes) -> Reports:
        """Decode and check reports that lie end to end."""
        return Reports(self.layout.unpack_many(cut(data, self.layout.code_size)), self.fingerprint)

    def _codes(self, reports: Reports, call: str) -> Bytes:
        client.check_sendable(reports, Reports, call)
        self.same_spec("a batch of reports", reports.fingerprint)
        return self.layout.pack_many(self.layout.check(reports.data))

    def probability(self, report: Report | Payload, value: object) -> Fraction:
        """Pr[report | value], exactly."""
        payload = self._payload(report) if isinstance(report, Report) else report
        self.layout.check(one_row(payload))
        return self._probability(payload, self.domain.index(value))

    def _payload(self, report: Report) -> Payload:
        self.same_spec("a report", report.fingerprint)
        return report.payload

    def summarize(self, reports: Any) -> Summary:
        """Count reports: a batch, a list of single reports, an Arrow table or stream of them, or a raw array.

        A raw array is checked first.
        """
        data, simulated = self._opened(reports)
        counts, n = counted(self.layout, data)
        return Summary(counts, n, self.fingerprint, simulated)

    def checked(self, reports: Any) -> tuple[Payloads, bool]:
        """Return reports as the kernels read them, and whether they are simulated, or refuse them."""
        data, simulated = self._opened(reports)
        return self.layout.check(data), simulated

    def _opened(self, reports: Any) -> tuple[Payloads, bool]:
        if isinstance(reports, (list, tuple)) and reports and isinstance(reports[0], Report):
            reports = batch_of(self, reports)
        elif is_arrow(reports) and (hasattr(reports, "schema") or not hasattr(reports, "__len__")):
            reports = Reports.from_arrow(reports)
        if not isinstance(reports, Reports):
            data = raw(reports)
            if data.dtype.kind not in "iufb" and data.size:
                raise MalformedReport(f"reports must be numbers, got {kind_of(reports)}. {PRIVATIZE_FIRST}")
            return data, False
        self.same_spec("a batch of reports", reports.fingerprint)
        return reports.data, reports.simulated

    def empty_summary(self) -> Summary:
        """The summary of no reports: adding it changes nothing."""
        counts = np.zeros(self.layout.cells, np.int64)
        counts.setflags(write=False)
        return Summary(counts, 0, self.fingerprint)

    def accumulator(self, start: Summary | None = None) -> Accumulator:
        """Return a running count of reports, from nothing or from a summary; threads may share it."""
        return Accumulator(self, start)

    def check_summary(self, summary: Summary) -> None:
        """Refuse a summary of another spec, of no reports, or with counts that no reports could have."""
        self.same_spec("a summary", summary.fingerprint)
        if summary.n == 0:
            raise EmptySummary("an estimate needs at least one report; this summary has none")
        self.layout.check_counts(summary)

    def support_counts(self, summary: Summary) -> Counts:
        """The number of reports that support each value."""
        return summary.counts

    def unbiased(self, summary: Summary) -> Floats:
        """The linear, unbiased estimate."""
        assert self.channel is not None, f"{self.name} must state its unbiased estimate"
        return self.channel.unbiased(self.support_counts(summary), summary.n)

    def noise(self, target: str) -> tuple[float, float, float]:
        """Coefficients of n Var[unbiased estimate of f] as a polynomial in f: v0 + v1 f + v2 f^2."""
        assert self.channel is not None, f"{self.name} must state its variance"
        return self.channel.noise(target)

    def noise_of(self, evidence: Evidence, target: str) -> Noise:
        """Coefficients of `noise` given this evidence, per value where they depend on the other frequencies."""
        del evidence
        return self.noise(target)

    def steps_of(self, evidence: Evidence, target: str) -> Steps:
        """The largest steps of the unbiased estimate, for a mechanism without binomial tails."""
        del evidence, target
        raise AssertionError(f"{self.name} must state the steps of its estimate")

    def variances_of(self, weights: Floats) -> Floats:
        """n Var[sum of weights times the unbiased estimate], for the target "users", if all users had one value.

        One entry per value; for any users it is the mean of these over their values.
        """
        # sum_v w_v f^_v is the mean over reports of their scores, and a user with x has the mean score w_x
        assert self._operator is not None, f"{self.name} must state its variances"
        return np.maximum(self._operator.adjoint(self.scores(weights) ** 2) - weights**2, 0.0)

    def scores(self, weights: Floats) -> Floats:
        """What a report adds to n times the weighted sum of the unbiased estimate, by cell of the operator.

        Cost: one scattering of the weights where the channel is pure and has two levels; else, unless the mechanism
        states it, one unbiased estimate per cell.
        """
        if self.channel is not None and isinstance(self._operator, TwoLevelOperator):
            supported = self._operator.incidence.scatter(weights).reshape(-1)
            return np.asarray((supported - float(self.channel.q) * weights.sum()) / float(self.channel.gain))
        units = (Summary(unit, 1, self.fingerprint) for unit in np.eye(self.layout.cells, dtype=np.int64))
        return np.array([self.unbiased(unit) @ weights for unit in units])

    def additions(self, weights: Floats) -> tuple[float, float]:
        """The least and the most that one report, made by no matter whom, adds to n times the weighted sum."""
        assert self._operator is not None, f"{self.name} must state what its reports add"
        scores = self.scores(weights)
        return float(scores.min()), float(scores.max())

    @property
    def influence(self) -> tuple[float, float] | None:
        """The least and the most that one report adds to the estimated count of a value; None where values differ."""
        if self.channel is None:
            return None
        # (1 [supported] - q)/(p - q)
        gain = self.channel.gain
        return float(-self.channel.q / gain), float((1 - self.channel.q) / gain)

    def supported(self, data: Payloads, indices: Indices) -> Mask:
        if isinstance(self._operator, ListingTwoLevelOperator):
            return self._operator.incidence.supported(indices, data.astype(np.int64)).T
        return super().supported(data, indices)

    def supporters(self, summary: Summary) -> Counts | None:
        """For each value, the number of reports in a fixed set that its senders make more often than others.

        It is binomial in any population; None where a summary does not know it. A pure channel has `support_counts`.
        """
        if self.channel is not None:
            return self.support_counts(summary)
        if not isinstance(self._operator, TwoLevelOperator):
            return None
        return np.rint(self._operator.incidence.gather(summary.counts.astype(np.float64))).astype(np.int64)

    def tails(self, summary: Summary) -> BinomialTails | None:
        """The exact tails of the counts behind the estimate, where they are binomial."""
        if self.channel is None:
            return None
        return BinomialTails(self.support_counts(summary), summary.n, self.channel)

    def operator(self) -> Operator | None:
        """The channel whose reports a summary's cells count, in the operator's order.

        None where a summary keeps too little for the likelihood. With an operator the mechanism offers all
        methods that need the likelihood. It is made once.
        """
        return None

    @cached_property
    def _operator(self) -> Operator | None:
        return self.operator()

    def reports_operator(self, _data: Payloads) -> Operator | None:
        """The channel with one cell per report given, where a summary keeps less than the reports do."""
        return None

    def variance(self, f: float = 0.0, n: int = 1, target: str = "users") -> float:
        """Variance of the unbiased estimate of a value whose frequency is f, from n reports."""
        f = between(0, 1, f=f)
        return float(noise_at(self.noise(target), f)) / whole(1, n=n)

    @property
    def method_functions(self) -> dict[str, Method]:
        """The estimation methods by name: the mechanism's own, then those all mechanisms share."""
        shared = shared_methods(pure=self.channel is not None, likelihood=self._operator is not None)
        return {**self._methods(), **{name: method for name, method in shared.items() if name not in self._methods()}}

    @property
    def methods(self) -> tuple[str, ...]:
        """The names of the estimation methods that work from this mechanism's summary."""
        return tuple(self.method_functions)

    def evidence(self, summary: Summary) -> Evidence:
        """All that an estimate needs from a summary, computed once."""
        tails = self.tails(summary)
        first = self.unbiased(summary) if tails is None else tails.channel.unbiased(tails.support, tails.n)
        return Evidence(summary, first, self.noise("users"), summary.counts, tails, self._operator)

    def estimate(self, summary: Summary | Reports, method: str | None = None, *, target: str = "users") -> Estimate:
        """Estimate frequencies with error bars; the default method is the best one that gives a distribution.

        Reports may be given in place of a summary; the method "mle-reports" needs them: it maximises the
        likelihood of the reports where their summary does not carry it.
        """
        kept = summary if isinstance(summary, Reports) else None
        if kept is not None:
            summary = self.summarize(kept)
        if not isinstance(summary, Summary):
            raise InvalidArgument("summary", "be a Summary, or Reports", kind_of(summary), PRIVATIZE_FIRST)
        options = self.methods if kept is None else (*self.methods, KEPT)
        method = choice(options, method=self.default_method if method is None else method)
        choice(TARGETS, target=target)
        self.check_summary(summary)
        return estimated(self, self.evidence(summary), kept, method, target)

"""The server's half of every mechanism: from reports to a summary, and from a summary to an estimate."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from deniable.core.arrays import Floats, Payloads
from deniable.core.domain import Domain
from deniable.core.errors import EmptySummary, InvalidArgument, MalformedReport, shown
from deniable.core.estimate import Estimate
from deniable.core.reports import Report, Reports
from deniable.core.summary import Summary
from deniable.core.validate import between, choice, whole
from deniable.estimation.channel import Noise, Operator, PureChannel, noise_at
from deniable.estimation.evidence import UNBIASED, Evidence, Method, family
from deniable.estimation.intervals import BinomialTails, IntervalRule
from deniable.mechanisms.base.client import one_row
from deniable.mechanisms.base.definition import Answer, Definition

_BY_SCORE = (
    "Per value: the score test of the count, inverted; covers the truth at the level, up to its normal approximation."
)
_BY_TAILS = " For all values at once: exact binomial tails, at least at the level."
_BY_BONFERRONI = " For all values at once: the same at a level divided among them."
_BY_AVERAGE = (
    "The score test of the count, inverted, with a variance that is an average over values: covers the truth at the "
    "level on average over values, not for each of them, nor for all at once."
)
MOVED = " Moved into [0, 1] and widened to hold this estimate, which only adds coverage."


KEPT = "mle-reports"  # the one method that needs the reports themselves


class Server(Definition):
    """Summarise, estimate, and know the error beforehand."""

    @abstractmethod
    def unbiased(self, summary: Summary) -> Floats:
        """The linear, unbiased estimate."""

    @abstractmethod
    def noise(self, target: str) -> tuple[float, float, float]:
        """Coefficients of n Var[unbiased estimate of f] as a polynomial in f: v0 + v1 f + v2 f^2."""

    def noise_of(self, _summary: Summary, target: str) -> Noise:
        """The same at this summary, value by value, where it depends on how frequent the other values are."""
        return self.noise(target)

    @property
    def noise_is_average(self) -> bool:
        """Whether `noise_of` knows an average over values only, so that intervals promise no more."""
        return False

    def tails(self, _summary: Summary) -> BinomialTails | None:
        """The exact tails of the counts behind the estimate, where they are binomial."""
        return None

    def pure_channel(self) -> PureChannel | None:
        """The mechanism's two probabilities, its attribute `channel`, if it is pure."""
        channel = getattr(self, "channel", None)
        return channel if isinstance(channel, PureChannel) else None

    def operator(self) -> Operator | None:
        """The channel whose reports a summary's cells count, in the operator's order.

        None where a summary keeps less, so that it does not carry the likelihood. With an operator the
        mechanism offers all methods that need the likelihood; making one should cost little.
        """
        return None

    def reports_operator(self, _data: Payloads) -> Operator | None:
        """The channel of these very reports, each a cell of its own, where a summary keeps less than they do."""
        return None

    def variance(self, f: float = 0.0, n: int = 1, target: str = "users") -> float:
        """Variance of the unbiased estimate of a value whose frequency is f, from n reports."""
        f = between(0, 1, f=f)
        return float(noise_at(self.noise(target), f)) / whole(1, n=n)

    def summarize(self, reports: Any) -> Summary:
        """Count reports: a batch, a list of single reports, or a raw array that is checked first."""
        if isinstance(reports, (list, tuple)) and reports and isinstance(reports[0], Report):
            reports = self._batch(reports)
        if isinstance(reports, Reports):
            self._same_spec("a batch of reports", reports.fingerprint)
        simulated = isinstance(reports, Reports) and reports.simulated
        data = self.check_payloads(reports.data if isinstance(reports, Reports) else np.asarray(reports))
        counts = np.zeros(self.cells, np.int64)
        self.accumulate(data, counts)
        return Summary(counts, len(data), self.fingerprint, simulated)

    def _batch(self, singles: Sequence[Report]) -> Reports:
        """One batch of single reports, as a server decodes them one at a time."""
        data = self.empty_payloads(len(singles))
        for place, report in enumerate(singles):
            if not isinstance(report, Report):
                raise MalformedReport(f"entry {place} must be a Report like the first, got {shown(report)}")
            self._same_spec("a report", report.fingerprint)
            data[place] = self.check_payloads(one_row(report.payload))[0]
        return Reports(data, self.fingerprint, any(report.simulated for report in singles))

    def empty_summary(self) -> Summary:
        """The summary of no reports: adding it changes nothing."""
        return Summary(np.zeros(self.cells, np.int64), 0, self.fingerprint)

    @property
    def methods(self) -> tuple[str, ...]:
        """The estimation methods this mechanism's summary carries: its own, then those all mechanisms share."""
        return tuple(dict.fromkeys([*self._methods(), *self._shared_methods()]))

    def _shared_methods(self) -> dict[str, Method]:
        return family(pure=self.pure_channel() is not None, likelihood=self.operator() is not None)

    def estimate(self, summary: Summary | Reports, method: str | None = None, *, target: str = "users") -> Estimate:
        """Frequencies with error bars; the default method is the best one that gives a distribution.

        Reports may be given in place of a summary; the method "mle-reports" needs them: it maximises the
        likelihood of the reports where their summary does not carry it.
        """
        if not isinstance(summary, (Summary, Reports)):
            raise InvalidArgument("summary", "be a Summary, or Reports", summary)
        kept = summary if isinstance(summary, Reports) else None
        summary = self.summarize(summary) if isinstance(summary, Reports) else summary
        options = self.methods if kept is None else (*self.methods, KEPT)
        method = choice(options, method=method or self.default_method)
        self.noise(target)  # refuses an unknown target before any work
        self.check_summary(summary)
        noise = self.noise_of(summary, target)
        evidence = self._evidence(summary)
        own = self._methods()
        if kept is not None and method == KEPT:
            answer = self._from_reports(kept, evidence)
        else:
            answer = own[method](summary) if method in own else self._shared_methods()[method](evidence)
        plain = method == "unbiased"
        return assembled(
            self,
            summary,
            domain=self.domain,
            frequencies=answer.frequencies,
            first=evidence.unbiased,
            noise=noise,
            tails=evidence.tails,
            method=method,
            target=target,
            unbiased=method in UNBIASED,
            note=self._interval_note(evidence) + ("" if plain else MOVED),
            details=answer.details,
        )

    def _interval_note(self, evidence: Evidence) -> str:
        return _BY_AVERAGE if self.noise_is_average else _BY_SCORE + (_BY_TAILS if evidence.tails else _BY_BONFERRONI)

    def _from_reports(self, kept: Reports, evidence: Evidence) -> Answer:
        operator = self.reports_operator(self.check_payloads(kept.data))
        if operator is not None:
            evidence = replace(evidence, counts=np.ones(len(kept), np.int64), operator=operator)
        elif evidence.operator is None:
            raise InvalidArgument("method", f"be another: {self.name} has no likelihood from reports yet", KEPT)
        return family(pure=False, likelihood=True)["mle"](evidence)

    def _evidence(self, summary: Summary) -> Evidence:
        return Evidence(
            self.unbiased(summary),
            summary.n,
            self.noise("users"),
            summary.counts,
            self.tails(summary),
            self.operator(),
        )

    def check_summary(self, summary: Summary) -> None:
        """Refuse a summary of another spec, or of no reports."""
        self._same_spec("a summary", summary.fingerprint)
        if summary.n == 0:
            raise EmptySummary("an estimate needs at least one report; this summary has none")


def assembled(
    server: Server,
    summary: Summary,
    *,
    domain: Domain,
    frequencies: Floats,
    first: Floats,
    noise: Noise,
    tails: BinomialTails | None,
    method: str,
    target: str,
    unbiased: bool,
    note: str,
    details: Mapping[str, Any],
    skewness: float = 0.0,
) -> Estimate:
    """The estimate of a method: its frequencies, with the error bars of the unbiased estimate behind them, `first`."""
    rule = IntervalRule(first, summary.n, noise, None if frequencies is first else frequencies, tails, skewness)
    return Estimate(
        domain=domain,
        frequencies=_frozen(frequencies),
        std_error=_frozen(np.sqrt(noise_at(noise, np.clip(frequencies, 0.0, 1.0)) / summary.n)),
        n=summary.n,
        method=method,
        target=target,
        unbiased=unbiased,
        interval_rule=rule,
        interval_note=note,
        fingerprint=server.fingerprint,
        simulated=summary.simulated,
        details=details,
    )


def _frozen(array: Floats) -> Floats:
    array.setflags(write=False)
    return array

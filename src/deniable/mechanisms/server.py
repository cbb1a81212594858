"""The server's half of every mechanism: from reports to a summary, and from a summary to an estimate."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from deniable.errors import EmptySummary
from deniable.estimate import Estimate
from deniable.estimation.intervals import BinomialTails, IntervalRule
from deniable.mechanisms.definition import Definition, Floats
from deniable.reports import Reports
from deniable.summary import Summary
from deniable.validate import between, choice, whole

_COVERS_PLAIN = "score interval: covers the truth at the stated level, up to the normal approximation"
_COVERS_CONSTRAINED = (
    "score interval of the unbiased estimate, cut to [0, 1] and widened to hold this estimate: covers the truth "
    "at least at the stated level, up to the normal approximation"
)


class Server(Definition):
    """Summarise, estimate, and know the error beforehand."""

    @abstractmethod
    def unbiased(self, summary: Summary) -> Floats:
        """The linear, unbiased estimate."""

    @abstractmethod
    def noise(self, target: str) -> tuple[float, float, float]:
        """Coefficients of n Var[unbiased estimate of f] as a polynomial in f: v0 + v1 f + v2 f^2."""

    def tails(self, _summary: Summary) -> BinomialTails | None:
        """The exact tails of the counts behind the estimate, where they are binomial."""
        return None

    def variance(self, f: float = 0.0, n: int = 1, target: str = "users") -> float:
        """Variance of the unbiased estimate of a value whose frequency is f, from n reports."""
        f = between(0, 1, f=f)
        v0, v1, v2 = self.noise(target)
        return (v0 + v1 * f + v2 * f * f) / whole(1, n=n)

    def summarize(self, reports: Any) -> Summary:
        """Count reports: a batch, or a raw array that is checked first."""
        if isinstance(reports, Reports):
            self._same_spec("a batch of reports", reports.fingerprint)
        simulated = isinstance(reports, Reports) and reports.simulated
        data = self.check_payloads(reports.data if isinstance(reports, Reports) else np.asarray(reports))
        counts = np.zeros(self.cells, np.int64)
        self.accumulate(data, counts)
        return Summary(counts, len(data), self.fingerprint, simulated)

    def empty_summary(self) -> Summary:
        """The summary of no reports: adding it changes nothing."""
        return Summary(np.zeros(self.cells, np.int64), 0, self.fingerprint)

    @property
    def methods(self) -> tuple[str, ...]:
        """The estimation methods this mechanism's summary carries."""
        return tuple(self._methods())

    def estimate(self, summary: Summary, method: str | None = None, *, target: str = "users") -> Estimate:
        """Frequencies with error bars; the default method is the best one that gives a distribution."""
        methods = self._methods()
        method = choice(methods, method=method or self.default_method)
        v0, v1, v2 = self.noise(target)
        self.check_summary(summary)
        answer = methods[method](summary)
        f = answer.frequencies
        plain = method == "unbiased"
        first = f if plain else self.unbiased(summary)
        rule = IntervalRule(first, summary.n, (v0, v1, v2), None if plain else f, self.tails(summary))
        return Estimate(
            domain=self.domain,
            frequencies=_frozen(f),
            std_error=_frozen(np.sqrt((v0 + v1 * f + v2 * f * f) / summary.n)),
            n=summary.n,
            method=method,
            target=target,
            unbiased=plain,
            interval_rule=rule,
            interval_note=_COVERS_PLAIN if plain else _COVERS_CONSTRAINED,
            fingerprint=self.fingerprint,
            simulated=summary.simulated,
            details=answer.details,
        )

    def check_summary(self, summary: Summary) -> None:
        """Refuse a summary of another spec, or of no reports."""
        self._same_spec("a summary", summary.fingerprint)
        if summary.n == 0:
            raise EmptySummary("an estimate needs at least one report; this summary has none")


def _frozen(array: Floats) -> Floats:
    array.setflags(write=False)
    return array

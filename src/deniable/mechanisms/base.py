"""What every mechanism shares: its spec, the way from values to reports, and from reports to an estimate.

A mechanism adds its own file: thresholds, two ways to randomise (one value in plain Python, a batch by
a kernel), how to count, the exact channel, and which estimation methods its summary carries.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from deniable.domain import Domain, Indices
from deniable.errors import EmptySummary, FingerprintMismatch, InvalidArgument, MalformedReport, SimulatedReport
from deniable.estimate import Estimate
from deniable.estimation.channel import PureChannel
from deniable.estimation.intervals import IntervalRule
from deniable.estimation.inversion import unbiased
from deniable.guarantee import Guarantee
from deniable.randomness.bounds import exponential_below, logarithm_above, logarithm_slack
from deniable.randomness.choices import Choices
from deniable.randomness.keystream import MODULUS, Keystream, Words
from deniable.reports import Report, Reports
from deniable.spec import Spec
from deniable.summary import Counts, Summary
from deniable.validate import between, choice, positive, whole

MAX_EPSILON = 50.0  # beyond it 64-bit thresholds stand still and a report is the value itself
FEW = 64  # batches up to this size take the plain path, which loads no compiler
_CHUNK = 2**16  # reports per kernel call: their words stay in the processor's cache

Payloads = npt.NDArray[Any]
Payload = int | tuple[int, ...]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Answer:
    """What an estimation method returns: frequencies, and what it has to say about its work."""

    frequencies: Floats
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Mechanism(ABC):
    """Base of all mechanisms. Frozen; every derived number is computed once, when it is made."""

    name: ClassVar[str]
    version: ClassVar[int]
    stride: ClassVar[int]  # random words per report, the same for every value
    default_method: ClassVar[str]

    domain: Domain
    epsilon: float
    thresholds: Mapping[str, int] = field(init=False, repr=False, compare=False)
    channel: PureChannel = field(init=False, repr=False, compare=False)
    spec: Spec = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        set_once = object.__setattr__
        set_once(self, "domain", Domain.of(self.domain))
        if positive(epsilon=self.epsilon) > MAX_EPSILON:
            raise InvalidArgument(
                "epsilon", f"be at most {MAX_EPSILON:g} (beyond it a report is the value)", self.epsilon
            )
        set_once(self, "epsilon", float(self.epsilon))
        set_once(self, "thresholds", self._thresholds(exponential_below(self.epsilon), MODULUS))
        set_once(self, "channel", self._channel())
        parameters = {"epsilon": self.epsilon, **self._parameters()}
        set_once(self, "spec", Spec(self.name, self.version, self.domain, parameters, self.thresholds))

    # What a mechanism adds ------------------------------------------------------------------------

    @abstractmethod
    def _thresholds(self, bound: Fraction, modulus: int) -> dict[str, int]:
        """The integers that run, for words uniform below `modulus` and ratios of at most `bound` <= e^epsilon.

        Devices run with 2^64. Tests run the same code with a small modulus and all words there are.
        """

    @abstractmethod
    def _channel(self) -> PureChannel:
        """The two probabilities of these integers."""

    def _parameters(self) -> dict[str, float | int | str]:
        """Parameters beyond epsilon, as the spec writes them."""
        return {}

    @property
    @abstractmethod
    def cells(self) -> int:
        """How many counts a summary has."""

    @abstractmethod
    def randomize_one(self, index: int, choices: Choices) -> Payload:
        """One report from one report's choices, in plain Python."""

    @abstractmethod
    def randomize(self, indices: Indices, words: Words, out: Payloads) -> Indices:
        """A batch by a kernel; returns the positions of reports whose draw was rejected."""

    @abstractmethod
    def empty_payloads(self, n: int) -> Payloads:
        """Room for n reports."""

    @abstractmethod
    def check_payloads(self, data: Payloads) -> Payloads:
        """The same reports in the layout the kernels read; MalformedReport if no client could send them."""

    @abstractmethod
    def accumulate(self, data: Payloads, counts: Counts) -> None:
        """Add checked reports to the counts of a summary."""

    @abstractmethod
    def all_payloads(self) -> Iterable[Payload]:
        """Every report there is, for exact enumeration on small domains."""

    @abstractmethod
    def _probability(self, payload: Payload, index: int) -> Fraction: ...

    @abstractmethod
    def ratio(self) -> Fraction:
        """The largest ratio of the channel's probabilities for one report."""

    @property
    @abstractmethod
    def report_bits(self) -> int:
        """Bits of a report's payload, before rounding up to bytes."""

    @abstractmethod
    def reconstruction_rate(self) -> Fraction:
        """How often the best guess of the value from one report is right, all values equally likely."""

    @abstractmethod
    def _pack(self, payload: Payload) -> bytes: ...

    @abstractmethod
    def _unpack(self, data: bytes) -> Payload: ...

    @abstractmethod
    def simulated_counts(self, true_counts: Counts, generator: np.random.Generator) -> Counts:
        """Counts of a summary of users with these true counts, drawn from their exact distribution."""

    @abstractmethod
    def _methods(self) -> Mapping[str, Callable[[Counts, int], Answer]]:
        """Estimation methods, from support counts and n."""

    def support_counts(self, counts: Counts) -> Counts:
        """For each value, how many reports support it."""
        return counts

    # Identity and privacy -------------------------------------------------------------------------

    @property
    def k(self) -> int:
        """How many values the domain has."""
        return self.domain.k

    @property
    def fingerprint(self) -> str:
        """The spec's fingerprint, which every report and summary carries."""
        return self.spec.fingerprint

    def guarantee(self) -> Guarantee:
        """The exact privacy guarantee, computed from the integers that run."""
        ratio = self.ratio()
        slack = logarithm_slack(self.epsilon, ratio)
        return Guarantee(ratio, logarithm_above(ratio), slack, self.epsilon)

    def probability(self, report: Report | Payload, value: object) -> Fraction:
        """Pr[report | value], exactly."""
        payload = self._payload(report) if isinstance(report, Report) else report
        return self._probability(payload, self.domain.index(value))

    def variance(self, f: float = 0.0, n: int = 1, target: str = "users") -> float:
        """Variance of the unbiased estimate of a value whose frequency is f, from n reports."""
        f = between(0, 1, f=f)
        v0, v1, v2 = self.channel.noise(target)
        return (v0 + v1 * f + v2 * f * f) / whole(1, n=n)

    # Client ---------------------------------------------------------------------------------------

    def privatize(self, values: Any, *, seed: int | None = None) -> Reports:
        """Reports of a batch of values, one per person, with fresh secure randomness.

        Two calls on one person's value compose: their epsilons add up. For repeated questions use a
        mechanism that remembers its answer. With a seed the reports repeat, are marked simulated and
        protect nobody.
        """
        indices = self.domain.indices(values)
        keystream = Keystream.fresh() if seed is None else Keystream.seeded(seed)
        return Reports(self.payloads(indices, keystream), self.fingerprint, keystream.simulated)

    def privatize_one(self, value: object) -> Report:
        """The report of one person, in plain Python: what a device runs."""
        index = self.domain.index(value)
        keystream = Keystream.fresh()
        words = keystream.stream(0).words(self.stride).tolist()
        return Report(self.randomize_one(index, Choices(words, keystream.overflow(0))), self.fingerprint)

    def payloads(self, indices: Indices, keystream: Keystream) -> Payloads:
        """The reports of these indices from this keystream; the same one by one and by the kernel."""
        out = self.empty_payloads(len(indices))
        stream = keystream.stream(0)
        if len(indices) <= FEW:
            for i, index in enumerate(indices.tolist()):
                words = stream.words(self.stride).tolist()
                out[i] = self.randomize_one(index, Choices(words, keystream.overflow(i)))
            return out
        buffer = np.empty(self.stride * _CHUNK + 2, np.uint64)
        zeros = memoryview(bytes(8 * self.stride * _CHUNK))
        for start in range(0, len(indices), _CHUNK):
            part = slice(start, min(start + _CHUNK, len(indices)))
            size = self.stride * (part.stop - start)
            stream.fill(zeros[: 8 * size], buffer)
            words_of_part = buffer[:size]
            for i in self.randomize(indices[part], words_of_part, out[part]).tolist():
                own = words_of_part[i * self.stride : (i + 1) * self.stride].tolist()
                choices = Choices(own, keystream.overflow(start + i))
                out[start + i] = self.randomize_one(int(indices[start + i]), choices)
        return out

    def encode(self, report: Report) -> bytes:
        """The payload of one report as bytes; simulated reports are refused."""
        if not isinstance(report, Report):
            raise MalformedReport(f"encode takes one Report, got {type(report).__name__}")
        if report.simulated:
            raise SimulatedReport("a report made with a seed protects nobody and must not be sent")
        return self._pack(self._payload(report))

    def decode(self, data: bytes) -> Report:
        """The report in these bytes, checked."""
        return Report(self._unpack(bytes(data)), self.fingerprint)

    def _payload(self, report: Report) -> Payload:
        self._same_spec("a report", report.fingerprint)
        return report.payload

    # Server ---------------------------------------------------------------------------------------

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
        noise = self.channel.noise(target)
        self.check_summary(summary)
        support, n = self.support_counts(summary.counts), summary.n
        answer = methods[method](support, n)
        plain = method == "unbiased"
        first = answer.frequencies if plain else unbiased(support, n, self.channel)
        rule = IntervalRule(support, n, self.channel, target, first, None if plain else answer.frequencies)
        f = answer.frequencies
        return Estimate(
            domain=self.domain,
            frequencies=_frozen(f),
            std_error=_frozen(np.sqrt((noise[0] + noise[1] * f + noise[2] * f * f) / n)),
            n=n,
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

    def _same_spec(self, what: str, fingerprint: str) -> None:
        if fingerprint != self.fingerprint:
            raise FingerprintMismatch(what, self.fingerprint, fingerprint)


_COVERS_PLAIN = "score interval: covers the truth at the stated level, up to the normal approximation"
_COVERS_CONSTRAINED = (
    "score interval of the unbiased estimate, cut to [0, 1] and widened to hold this estimate: covers the truth "
    "at least at the stated level, up to the normal approximation"
)


def _frozen(array: Floats) -> Floats:
    array.setflags(write=False)
    return array

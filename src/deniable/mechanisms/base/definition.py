"""What a mechanism's own file must say, and the facts that follow: its spec and its guarantee."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from deniable.core.arrays import Counts, Indices, Payloads, Words
from deniable.core.domain import Domain
from deniable.core.domain.open import Open
from deniable.core.errors import FingerprintMismatch, InvalidArgument
from deniable.core.frozen import Frozen
from deniable.core.guarantee import Guarantee
from deniable.core.spec import Spec
from deniable.core.summary import Summary
from deniable.core.validate import positive
from deniable.estimation.evidence import Answer as Answer  # mechanisms return it, and find it here
from deniable.randomness.bounds import exponential_below, logarithm_above, logarithm_slack
from deniable.randomness.choices import Choices
from deniable.randomness.keystream import MODULUS

_LEAST_GAIN = 1e-9
MAX_EPSILON = 50.0  # beyond it 64-bit thresholds stand still and a report is the value itself

Payload = int | tuple[int, ...]


def checked_epsilon(epsilon: object) -> float:
    """An epsilon that thresholds can follow."""
    number = positive(epsilon=epsilon)
    if number > MAX_EPSILON:
        rule = f"be at most {MAX_EPSILON:g} (beyond it a report is the value itself)"
        raise InvalidArgument("epsilon", rule, epsilon)
    return number


def float_bound(epsilon: object) -> float:
    """e^epsilon as a float, for searches that compare errors of designs: far enough from 1 to do so."""
    bound = float(exponential_below(checked_epsilon(epsilon)))
    if bound < 1 + _LEAST_GAIN:
        raise InvalidArgument("epsilon", f"be at least {_LEAST_GAIN:g} for this mechanism", epsilon)
    return bound


def _for_open_domains() -> str:
    from deniable.mechanisms.registry import open_mechanisms

    return f"open strings are for {', '.join(open_mechanisms())}"


@dataclass(frozen=True)
class Definition(ABC):
    """The part of a mechanism that differs from one to the next. Frozen, derived once when it is made."""

    name: ClassVar[str]
    version: ClassVar[int]
    default_method: ClassVar[str]
    open_domains: ClassVar[bool] = False  # whether values may be any strings
    word_bits: ClassVar[int] = 64  # leading bits of a word that vary; tests run with few, and all words there are

    domain: Domain
    epsilon: float
    thresholds: Mapping[str, int] = field(init=False, repr=False, compare=False)
    spec: Spec = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        set_once = object.__setattr__
        set_once(self, "domain", Domain.of(self.domain))
        if isinstance(self.domain, Open) and not self.open_domains:
            raise InvalidArgument("domain", f"be closed for {self.name}; {_for_open_domains()}", self.domain.kind)
        set_once(self, "epsilon", checked_epsilon(self.epsilon))
        set_once(self, "thresholds", Frozen(self._thresholds(exponential_below(self.epsilon), MODULUS)))
        self._derive()
        parameters = {"epsilon": self.epsilon, **self._parameters()}
        set_once(self, "spec", Spec(self.name, self.version, self.domain, parameters, self.thresholds))

    @abstractmethod
    def _thresholds(self, bound: Fraction, modulus: int) -> dict[str, int]:
        """The integers that run, for words uniform below `modulus` and ratios of at most `bound` <= e^epsilon.

        Devices run with 2^64. Tests run the same code with a small modulus and all words there are.
        """

    @abstractmethod
    def _derive(self) -> None:
        """Compute what follows from the thresholds."""

    def _parameters(self) -> dict[str, Any]:
        """Parameters beyond epsilon, as the spec writes them and the constructor takes them."""
        return {}

    @property
    @abstractmethod
    def stride(self) -> int:
        """Random words per report, the same for every value and coin."""

    @property
    @abstractmethod
    def cells(self) -> int:
        """How many counts a summary has."""

    @abstractmethod
    def randomize_one(self, index: int, choices: Choices) -> Payload:
        """One report from one report's choices, in plain Python."""

    @abstractmethod
    def randomize(self, indices: Indices, words: Words, out: Payloads) -> Indices:
        """A batch by a kernel; returns the positions of reports of which a draw was rejected."""

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
    def _probability(self, payload: Payload, index: int) -> Fraction:
        """Pr[payload | value of this index], exactly."""

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

    def _methods(self) -> Mapping[str, Callable[[Summary], Answer]]:
        """Estimation methods of its own, beyond those all mechanisms share (estimation/evidence.py) or better."""
        return {}

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

    def _same_spec(self, what: str, fingerprint: str) -> None:
        if fingerprint != self.fingerprint:
            raise FingerprintMismatch(what, self.fingerprint, fingerprint)

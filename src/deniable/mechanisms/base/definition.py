"""What each mechanism must define, and the facts that follow: its spec and its guarantee."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from deniable.core.arrays import Counts, Indices, Mask, Payloads, Words
from deniable.core.caches import FieldsOnly
from deniable.core.display import brief
from deniable.core.domain import Domain
from deniable.core.domain.open import Open
from deniable.core.errors import FingerprintMismatch, InvalidArgument
from deniable.core.guarantee import Guarantee
from deniable.core.limits import Cost, Memory
from deniable.core.spec import Frozen, Spec
from deniable.core.validate import positive
from deniable.estimation.channel import PureChannel, TwoLevel
from deniable.estimation.evidence import Evidence, Solution
from deniable.mechanisms.layouts.layout import Layout, Payload
from deniable.randomness.bounds import exponential_below, logarithm_above, logarithm_slack
from deniable.randomness.choices import Choices
from deniable.randomness.keystream import MODULUS

_LEAST_GAIN = 1e-9
MAX_EPSILON = 50.0  # beyond it 64-bit thresholds no longer change and a report is the value itself
CHOSEN: Any = None  # the default of a parameter that the constructor chooses where it is not given


def checked_epsilon(epsilon: object) -> float:
    """Return epsilon as a float, or raise InvalidArgument if it is not positive or too large for 64-bit thresholds."""
    number = positive(epsilon=epsilon)
    if number > MAX_EPSILON:
        raise InvalidArgument("epsilon", f"be at most {MAX_EPSILON:g}", epsilon, "Beyond that a report is the value.")
    return number


def float_bound(epsilon: float) -> float:
    """e^epsilon as a float, for searches that compare errors of designs; raises where it is too close to 1."""
    bound = float(exponential_below(epsilon))
    if bound < 1 + _LEAST_GAIN:
        raise InvalidArgument("epsilon", f"be at least {_LEAST_GAIN:g} for this mechanism", epsilon)
    return bound


@dataclass(frozen=True)
class Definition(ABC):
    """The part of a mechanism that differs from one to the next. Frozen; what follows from it is computed once."""

    name: ClassVar[str]
    version: ClassVar[int]
    default_method: ClassVar[str]
    open_domains: ClassVar[bool] = False  # whether values may be any strings
    word_bits: ClassVar[int] = 64  # leading bits of a word that vary; tests use few, and enumerate all words

    domain: Domain
    epsilon: float
    thresholds: Mapping[str, int] = field(init=False, repr=False, compare=False)
    spec: Spec = field(init=False, repr=False, compare=False)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__repr__" not in cls.__dict__:  # a dataclass would write one, with every label and parameter
            cls.__repr__ = Definition.__repr__  # type: ignore[method-assign]

    __getstate__ = FieldsOnly.__getstate__

    def __repr__(self) -> str:
        size = {} if isinstance(self.domain, Open) else {"k": f"{self.k:,}"}
        return brief(self, **size, epsilon=f"{self.epsilon:g}", fingerprint=self.fingerprint)

    def __post_init__(self) -> None:
        set_once = object.__setattr__
        set_once(self, "domain", Domain.of(self.domain))
        if isinstance(self.domain, Open) and not self.open_domains:
            hint = "Open strings are for mechanisms that hash them, such as orr."
            raise InvalidArgument("domain", f"be closed for {self.name}", self.domain.kind, hint)
        set_once(self, "epsilon", checked_epsilon(self.epsilon))
        for name, value in self._settled().items():
            set_once(self, name, value)
        set_once(self, "thresholds", Frozen(self._thresholds(exponential_below(self.epsilon), MODULUS)))
        parameters = {"epsilon": self.epsilon, **self._parameters()}
        set_once(self, "spec", Spec(self.name, self.version, self.domain, parameters, self.thresholds))

    @classmethod
    def choose(cls, domain: Any, epsilon: float, **options: Any) -> Self:
        """Make a mechanism from parameters and from options that guide how the others are chosen."""
        return cls(domain, epsilon, **options)

    @classmethod
    def spec_parameters(cls) -> dict[str, bool]:
        """The parameters a spec may carry, and whether it must; options that guide a choice are not among them."""
        given = [each for each in fields(cls) if each.init and each.name != "domain"]
        return {each.name: each.default is CHOSEN or each.default is MISSING for each in given}

    @classmethod
    def cost(cls, domain: Domain, parameters: Mapping[str, Any]) -> Cost:
        """What a mechanism of these parameters costs, by a formula that builds nothing.

        Parameters may be of any kind, since nothing has been checked yet.
        """
        del parameters
        return Cost(cells=0 if isinstance(domain, Open) else domain.k)

    def memory(self) -> Memory:
        """Bytes that building the mechanism, its first report and a summary take at most, by formula."""
        return self.cost(self.domain, self.spec.parameters).memory

    @property
    def setup_seconds(self) -> float:
        """Seconds from the spec to the first report on a common processor, by formula."""
        return self.cost(self.domain, self.spec.parameters).nanoseconds / 1e9

    def _settled(self) -> Mapping[str, Any]:
        """Parameters beyond epsilon as the mechanism keeps them: checked, and chosen where they were not given."""
        return {}

    def _parameters(self) -> dict[str, Any]:
        """Parameters beyond epsilon, as the spec writes them and the constructor takes them."""
        return {}

    def advice(self) -> str:
        """A warning about these parameters for whoever makes a spec; empty if there is none."""
        return ""

    @abstractmethod
    def _thresholds(self, bound: Fraction, modulus: int) -> dict[str, int]:
        """The integers that run, for words uniform below `modulus` and ratios of at most `bound` <= e^epsilon.

        Devices run with 2^64. Tests run the same code with a small modulus and enumerate all words.
        """

    def require_coin(self, strong: bool, bits: int = 64) -> None:
        """Refuse an epsilon too small to change any threshold: `strong` says whether one does change."""
        if not strong:
            raise InvalidArgument("epsilon", "be larger", self.epsilon, f"No {bits}-bit coin is that weak.")

    @property
    @abstractmethod
    def layout(self) -> Layout:
        """The shape of reports: in memory, in a summary, and as bytes."""

    @property
    @abstractmethod
    def stride(self) -> int:
        """Random words per report, the same for every value and coin."""

    @abstractmethod
    def randomize_one(self, index: int, choices: Choices) -> Payload:
        """Randomise one value from one report's choices, in plain Python."""

    @abstractmethod
    def randomize(self, indices: Indices, words: Words, out: Payloads) -> Indices:
        """Randomise a batch into `out`; return the positions of reports that must be redrawn."""

    @abstractmethod
    def reconstruction_rate(self) -> Fraction:
        """Probability that the best guess of a value from one report is right, all values equally likely."""

    @property
    def two_level(self) -> TwoLevel | None:
        """The probabilities of a report under a value it supports and under any other; None if there are more."""
        return None

    def supports(self, payload: Payload, index: int) -> bool:
        """Whether a report of a two-level channel supports the value of this index."""
        raise NotImplementedError(f"{self.name} must say which values a report supports")

    def supported(self, data: Payloads, indices: Indices) -> Mask:
        """Which values of these indices each report supports: a row per report, a column per value.

        By default what `supports` says, one by one; without two levels, the values under which a report is likeliest.
        """
        rows = [tuple(row) if isinstance(row, list) else row for row in data.tolist()]
        if self.two_level is not None:
            marked = [[self.supports(row, index) for index in indices.tolist()] for row in rows]
        else:
            chances = [[self._probability(row, index) for index in indices.tolist()] for row in rows]
            marked = [[chance == max(each) for chance in each] for each in chances]
        return np.array(marked, np.bool_).reshape(len(rows), len(indices))

    def guesses(self, data: Payloads, indices: Indices) -> Indices:
        """The place in `indices` of the one value that each report supports; -1 where it is none or several."""
        marked = self.supported(data, indices)
        return np.where(np.count_nonzero(marked, axis=1) == 1, marked.argmax(axis=1), -1)

    def public_part(self, data: Payloads) -> Indices | None:
        """The part of each report that is drawn without a look at the value; None if there is no such part."""
        del data
        return None

    def _probability(self, payload: Payload, index: int) -> Fraction:
        """Pr[payload | value of this index], exactly; override it where the channel is not two-level."""
        assert self.two_level is not None, f"{self.name} must state its channel"
        return self.two_level.given(self.supports(payload, index))

    def ratio(self) -> Fraction:
        """The largest ratio of the channel's probabilities for one report."""
        assert self.two_level is not None, f"{self.name} must state its largest ratio"
        return self.two_level.ratio

    @property
    def channel(self) -> PureChannel | None:
        """The two probabilities p and q of a pure channel; None if the channel is not pure."""
        return None

    @abstractmethod
    def simulated_counts(self, true_counts: Counts, generator: np.random.Generator) -> Counts:
        """Counts of a summary of users with these true counts, drawn from their exact distribution."""

    def _methods(self) -> Mapping[str, Callable[[Evidence], Solution]]:
        """Estimation methods beyond those all mechanisms share (estimation/methods/shared.py), or better ones."""
        return {}

    @property
    def k(self) -> int:
        """Number of values in the domain."""
        return self.domain.k

    @property
    def report_bits(self) -> int:
        """Bits of a report's payload, before rounding up to bytes."""
        return self.layout.bits

    @property
    def fingerprint(self) -> str:
        """The spec's fingerprint, which every report and summary carries."""
        return self.spec.fingerprint

    def guarantee(self) -> Guarantee:
        """The exact privacy guarantee, computed from the integers that run."""
        ratio = self.ratio()
        slack = logarithm_slack(self.epsilon, ratio)
        return Guarantee(ratio, logarithm_above(ratio), slack, self.epsilon)

    def same_spec(self, what: str, fingerprint: str) -> None:
        """Raise FingerprintMismatch if `what` was made under another spec."""
        if fingerprint != self.fingerprint:
            raise FingerprintMismatch(what, self.fingerprint, fingerprint)

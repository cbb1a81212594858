"""Heavy hitters over open strings: the document that client and server share, and the client's side.

Each user is assigned to one group, uniformly at random and publicly, and answers one question with the whole epsilon:
what are the first L bytes of your string? L grows from group to group. The server finds the frequent prefixes of the
first group, looks for their extensions in the second, and so on until strings end (search.py).

Reference: Bassily, Nissim, Stemmer, Thakurta 2017, "Practical locally private heavy hitters"; Wang, Li,
Jha 2019, "Locally differentially private heavy hitter identification", for dividing users instead of epsilon and
for a few long steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.defaults import RATE
from deniable.core.documents import is_one, read_json
from deniable.core.domain.columns import entries, read
from deniable.core.domain.open import Open
from deniable.core.errors import (
    FingerprintMismatch,
    InvalidArgument,
    MalformedReport,
    MalformedSummary,
    SpecError,
    kind_of,
    listed,
    shown,
)
from deniable.core.guarantee import Guarantee
from deniable.core.limits import DEFAULT, Cost, Limits, checked
from deniable.core.reports import Report, Reports
from deniable.core.spec import Document, Spec
from deniable.core.validate import choice, whole
from deniable.heavy_hitters.accumulator import HitterAccumulator
from deniable.heavy_hitters.collected import HitterReports, HitterSummary
from deniable.heavy_hitters.groups import BUDGET, MAX_BYTES, MAX_LEVELS, made_lengths, made_levels, uniform_levels
from deniable.heavy_hitters.strings import Alphabet, sequences
from deniable.mechanisms.cohorts.base import CohortMechanism
from deniable.mechanisms.registry import cost_of, from_spec
from deniable.randomness.choices import Choices
from deniable.randomness.keystream import KEY_BYTES, Keystream

if TYPE_CHECKING:
    from deniable.heavy_hitters.findings import Findings

FORMAT = 1
_KEY_WORDS = KEY_BYTES // 8
_MEMBERS = {"alphabet", "deniable", "heavy_hitters", "levels", "max_bytes"}


@dataclass(frozen=True, eq=False)
class HeavyHitters(Document):
    """The agreement of client and server: one mechanism per prefix length. Made by `HeavyHitters.new`.

    Guarantee: the largest ratio of any level; the level a user answers does not depend on their value.

    >>> hh = HeavyHitters.new(epsilon=4.0, alphabet="abcdefghijklmnopqrstuvwxyz", max_bytes=9)
    >>> hh.lengths
    (4, 7, 10)
    """

    levels: tuple[CohortMechanism, ...]
    max_bytes: int
    alphabet: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", tuple(self.levels))
        whole(1, MAX_LEVELS, levels=len(self.levels))
        whole(1, MAX_BYTES, max_bytes=self.max_bytes)
        Alphabet(self.alphabet)
        for level in self.levels:
            if not isinstance(level, CohortMechanism) or not isinstance(level.domain, Open):
                raise InvalidArgument("mechanism", "support open strings, as orr does", level)
        if list(self.lengths) != sorted(set(self.lengths)) or self.lengths[-1] != self.max_bytes + 1:
            rule = f"increase and end with {self.max_bytes + 1}, one more than max_bytes"
            raise InvalidArgument("lengths", rule, list(self.lengths))
        if len({level.layout.empty(1).shape for level in self.levels}) > 1:
            raise InvalidArgument("levels", "have reports of the same size", [level.name for level in self.levels])

    @staticmethod
    def new(
        *,
        epsilon: float,
        max_bytes: int = 12,
        mechanism: str = "orr",
        alphabet: str | None = None,
        lengths: Iterable[int] | None = None,
        key: str = "",
        **parameters: Any,
    ) -> HeavyHitters:
        """Make a protocol for strings of up to `max_bytes` bytes; longer strings are cut.

        `alphabet` lists the characters to look for, by default all but control characters; fewer characters allow
        longer steps and smaller errors. `lengths` are the prefix lengths of the groups, in bytes. All other
        parameters go to the mechanism.
        """
        max_bytes = whole(1, MAX_BYTES, max_bytes=max_bytes)
        chosen = made_lengths(lengths, Alphabet(alphabet), max_bytes)
        return HeavyHitters(made_levels(mechanism, epsilon, chosen, key, parameters), max_bytes, alphabet)

    @property
    def lengths(self) -> tuple[int, ...]:
        """The prefix length of each level, in bytes."""
        return tuple(level.domain.max_bytes for level in self.levels)  # type: ignore[attr-defined]

    @property
    def epsilon(self) -> float:
        """The epsilon of a user: the largest of the levels."""
        return max(level.epsilon for level in self.levels)

    def guarantee(self) -> Guarantee:
        """The exact privacy guarantee, taken from the level with the largest ratio."""
        return max((level.guarantee() for level in self.levels), key=lambda guarantee: guarantee.ratio)

    def to_dict(self) -> dict[str, Any]:
        """The document as plain data."""
        return {
            "deniable": FORMAT,
            "heavy_hitters": 1,
            "max_bytes": self.max_bytes,
            "alphabet": self.alphabet,
            "levels": [level.spec.to_dict() for level in self.levels],
        }

    @staticmethod
    def from_json(text: str | bytes, *, limits: Limits | None = DEFAULT) -> HeavyHitters:
        """Read the document; the thresholds of every level are derived again and must agree.

        Levels that cost more than `limits`, each or together, are refused; None stands for no limits.
        """
        document = read_json(text, "heavy-hitter spec", limits=checked(limits))
        if not isinstance(document, dict) or not is_one(document.get("heavy_hitters")):
            if isinstance(document, dict) and "mechanism" in document:
                raise SpecError("this is the spec of one question, for estimate or decode, not of heavy hitters")
            raise SpecError(f'a heavy-hitter spec must have the member "heavy_hitters": 1, got {shown(document)}')
        if unknown := sorted(document.keys() ^ _MEMBERS):
            raise SpecError(f"heavy-hitter spec has a missing or unknown member: {listed(unknown)}")
        if not is_one(document["deniable"]) or not isinstance(document["levels"], list):
            raise SpecError("heavy-hitter spec has an unknown layout")
        whole(1, MAX_LEVELS, levels=len(document["levels"]))
        specs = [Spec.from_dict(level, limits=limits) for level in document["levels"]]
        if limits is not None:  # all of them before any is built
            costs = [cost_of(spec) for spec in specs]
            for cost in (*costs, replace(sum(costs, Cost()), cohorts=0)):
                limits.check(cost)
        levels: list[Any] = [from_spec(spec, limits=None) for spec in specs]
        return HeavyHitters(tuple(levels), document["max_bytes"], document["alphabet"])

    def privatize_one(self, value: object) -> tuple[int, Report]:
        """Return the level and the report of one person, in plain Python, as a device does."""
        (whole_sequence,) = sequences([value], self.max_bytes)
        keystream = Keystream.fresh()
        chosen = Choices(keystream.stream(0).words(1), keystream.overflow(0)).below(len(self.levels))
        return chosen, self.levels[chosen].privatize_one(whole_sequence[: self.lengths[chosen]])

    def privatize(self, values: Any, *, seed: int | None = None) -> HitterReports:
        """Privatise a batch of strings, one per person, with fresh secure randomness.

        Two calls on one person's value compose: their epsilons add up. With a seed the reports are reproducible,
        marked simulated, and protect nobody.
        """
        keystream = Keystream.fresh() if seed is None else Keystream.seeded(seed)
        return self.reports_of(values, keystream)

    def words_for(self, reports: int) -> int:
        """How many words of stream 0 a batch reads: one per value, and a key per level."""
        return reports + _KEY_WORDS * len(self.levels)

    def reports_of(self, values: Any, keystream: Keystream) -> HitterReports:
        """Privatise a batch with this keystream, which gives each value a word for its level, and each level a key."""
        encoded = sequences(entries(read(values)), self.max_bytes)
        stream = keystream.stream(0)
        levels = uniform_levels(len(self.levels), stream.words(len(encoded)), keystream)
        data = self.levels[0].layout.empty(len(encoded))
        for number, level in enumerate(self.levels):
            level_keystream = Keystream(stream.words(_KEY_WORDS).astype("<u8").tobytes(), keystream.simulated)
            places = np.flatnonzero(levels == number)
            if len(places):
                prefixes = [encoded[place][: self.lengths[number]] for place in places]
                data[places] = level.payloads(level.domain.indices(prefixes), level_keystream)
        return HitterReports(levels, Reports(data, self.fingerprint, keystream.simulated))

    def summarize(self, reports: HitterReports | Iterable[tuple[int, Report]]) -> HitterSummary:
        """Count reports, given as a batch or as pairs of a level and a report."""
        if not isinstance(reports, HitterReports):
            return self._summarize_pairs(reports)
        parts = (level.summarize(own) for level, own in zip(self.levels, self.by_level(reports), strict=True))
        return HitterSummary(tuple(parts), self.fingerprint)

    def accumulator(self) -> HitterAccumulator:
        """Return a running count of reports, which grows in place."""
        return HitterAccumulator(self)

    def by_level(self, reports: HitterReports) -> Iterator[Reports]:
        """Divide a batch into the reports of each level, in order, as their mechanisms take them."""
        if reports.reports.fingerprint != self.fingerprint:
            raise FingerprintMismatch("a batch of reports", self.fingerprint, reports.reports.fingerprint)
        if len(reports) and (reports.levels.min() < 0 or reports.levels.max() >= len(self.levels)):
            raise MalformedReport(f"a level must lie from 0 to {len(self.levels) - 1}, got {reports.levels.max()}")
        for number, level in enumerate(self.levels):
            data = reports.reports.data[reports.levels == number]
            yield Reports(data, level.fingerprint, reports.reports.simulated)

    def _summarize_pairs(self, pairs: Iterable[tuple[int, Report]]) -> HitterSummary:
        by_level: list[list[Report]] = [[] for _ in self.levels]
        listed_pairs = isinstance(pairs, Iterable) and getattr(pairs, "ndim", None) != 0
        for pair in pairs if listed_pairs else [pairs]:
            if not isinstance(pair, tuple) or len(pair) != 2 or not isinstance(pair[1], Report):
                raise MalformedReport(f"reports must be a batch, or pairs of a level and a report, got {kind_of(pair)}")
            by_level[whole(0, len(self.levels) - 1, level=pair[0])].append(pair[1])
        both = zip(self.levels, by_level, strict=True)
        parts = (level.summarize(reports) if reports else level.empty_summary() for level, reports in both)
        return HitterSummary(tuple(parts), self.fingerprint)

    def empty_summary(self) -> HitterSummary:
        """The summary of no reports; adding it changes nothing."""
        return HitterSummary(tuple(level.empty_summary() for level in self.levels), self.fingerprint)

    def simulate(self, counts: Mapping[str, int], seed: int = 0) -> HitterSummary:
        """Simulate the summary of users with these strings, {string: count}, drawn from its exact distribution."""
        from deniable.heavy_hitters.simulation import simulated

        return simulated(self, counts, seed)

    def find(
        self,
        summary: HitterSummary | HitterReports,
        *,
        rate: float = RATE,
        target: str = "users",
        budget: int = BUDGET,
        alphabet: str | None = None,
        progress: Callable[[str, float], None] | None = None,
    ) -> Findings:
        """Find the frequent strings, each with an interval, and say what may have been missed.

        At most a share `rate` of them is absent, on average. `budget` caps the candidates per level and so bounds run
        time. `progress(message, fraction_done)` is called as work proceeds.
        """
        from deniable.heavy_hitters.search import find

        if isinstance(summary, HitterReports):
            summary = self.summarize(summary)
        if not isinstance(summary, HitterSummary):
            raise InvalidArgument("summary", "be a HitterSummary, or HitterReports", kind_of(summary))
        if summary.fingerprint != self.fingerprint:
            raise FingerprintMismatch("a summary", self.fingerprint, summary.fingerprint)
        if len(summary.levels) != len(self.levels):
            raise MalformedSummary(f"summary must have {len(self.levels)} levels, got {len(summary.levels)}")
        for level, part in zip(self.levels, summary.levels, strict=True):
            if part.n:
                level.check_summary(part)
        choice(("users", "population"), target=target)
        sought = Alphabet(self.alphabet if alphabet is None else alphabet)
        return find(self, summary, sought, rate, target, whole(1, 2**26, budget=budget), progress)

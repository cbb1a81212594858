"""Local hashing by linear hash functions: optimised (all seeds), binary (two classes) and fast (few seeds, shared).

linear_hashing.py says how values are hashed, and why collisions are exact.

Reference: Wang, Blocki, Li, Jha 2017, section 4.4 (BLH, OLH); Cormode, Maddock, Maple 2021 (fast local hashing).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from deniable.core.errors import InvalidArgument
from deniable.core.summary import Summary
from deniable.estimation.channel import TwoLevel
from deniable.estimation.evidence import Evidence
from deniable.estimation.operators.two_level import two_level_operator
from deniable.mechanisms.base.definition import CHOSEN
from deniable.mechanisms.hashing.linear_hashing import LinearHashing, best_or_refused
from deniable.mechanisms.hashing.primes import checked_base, fits
from deniable.mechanisms.layouts.symbols import MAX_SYMBOLS


@dataclass(frozen=True)
class OptimizedLocalHashing(LinearHashing):
    """Optimised local hashing, "olh": every vector but 0 is a seed, and g the prime with the least error.

    Formula: p = E/(E + g - 1), q a little below 1/g, variance at most (E + g - 1)^2/((g - 1)(E - 1)^2) at f = 0, but
    for rounding. The best g is near e^epsilon + 1.

    >>> m = OptimizedLocalHashing(22_000, epsilon=2.0)
    >>> m.g, m.digits, m.publics, m.report_bits
    (7, 6, 117648, 3)
    """

    name: ClassVar[str] = "olh"
    version: ClassVar[int] = 1
    default_method: ClassVar[str] = "mle"

    g: int = CHOSEN

    def _settled(self) -> Mapping[str, Any]:
        base = best_or_refused(self.name, self.k, self.epsilon, self.lines) if self.g is None else self.g
        return {**super()._settled(), "g": checked_base(self.k, base, self.lines, self.name)}

    def _parameters(self) -> dict[str, Any]:
        return {"g": self.g, "salt": self.salt}

    def evidence(self, summary: Summary) -> Evidence:
        # seeds of one line give the same likelihood, so g - 1 times fewer cells suffice
        found, by_lines = super().evidence(summary), self.incidence.by_lines
        folded = self.incidence.fold(summary.counts.reshape(self.publics, self.g)).reshape(-1)
        levels = TwoLevel.by_replacement(self.thresholds["truth"], self.g, repeats=by_lines.seeds)
        return replace(found, counts=folded, operator=two_level_operator(by_lines, levels.high, levels.low))


@dataclass(frozen=True)
class BinaryLocalHashing(LinearHashing):
    """Binary local hashing, "blh": g = 2, so that a report is one bit beside its seed.

    Formula: variance at most ((E + 1)/(E - 1))^2 at f = 0, but for rounding; serves every k and epsilon.

    >>> BinaryLocalHashing(22_000, epsilon=0.5).report_bits
    1
    """

    name: ClassVar[str] = "blh"
    version: ClassVar[int] = 1
    default_method: ClassVar[str] = "mle"

    @property
    def g(self) -> int:
        return 2

    def _settled(self) -> Mapping[str, Any]:
        if not fits(self.k, 2, self.lines):
            raise InvalidArgument("k", f"be at most {MAX_SYMBOLS // 2} for {self.name}", self.k, "Use grr or csr.")
        return super()._settled()

    def _parameters(self) -> dict[str, Any]:
        return {"salt": self.salt}


@dataclass(frozen=True)
class FastLocalHashing(LinearHashing):
    """Fast local hashing, "flh": few seeds that all users share, one of each line through 0.

    These (g^d - 1)/(g - 1) seeds are the fewest with which all pairs of values collide equally often; a pair
    collides with probability (g^(d-1) - 1)/(g^d - 1), a little less than 1/g.

    >>> m = FastLocalHashing(22_000, epsilon=2.0)
    >>> m.g, m.publics, m.symbols, m.report_bits
    (7, 19608, 137256, 3)
    """

    name: ClassVar[str] = "flh"
    version: ClassVar[int] = 1
    default_method: ClassVar[str] = "mle"
    lines: ClassVar[bool] = True

    g: int = CHOSEN

    def _settled(self) -> Mapping[str, Any]:
        base = best_or_refused(self.name, self.k, self.epsilon, self.lines) if self.g is None else self.g
        return {**super()._settled(), "g": checked_base(self.k, base, self.lines, self.name)}

    def _parameters(self) -> dict[str, Any]:
        return {"g": self.g, "salt": self.salt}

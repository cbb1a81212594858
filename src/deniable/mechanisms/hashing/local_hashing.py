"""Local hashing by linear hash functions: optimised (all seeds), binary (two classes) and fast (few seeds, shared).

How values are hashed, and why collisions are exact, is in linear_hashing.py.

Reference: Wang, Blocki, Li, Jha 2017, section 4.4 (BLH, OLH); Cormode, Maddock, Maple 2021 (fast local hashing).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from deniable.core.domain import Domain
from deniable.core.errors import InvalidArgument
from deniable.core.summary import Summary
from deniable.estimation.evidence import Evidence
from deniable.mechanisms.hashing.linear_hashing import LinearHashing
from deniable.mechanisms.hashing.primes import fits
from deniable.mechanisms.layouts.symbols import MAX_SYMBOLS


@dataclass(frozen=True)
class OptimizedLocalHashing(LinearHashing):
    """Optimised local hashing, "olh": every vector is a seed, and g the prime near e^epsilon + 1 with the least error.

    Formula: p = E/(E + g - 1) but for rounding, q = 1/g, variance (E + g - 1)^2/((g - 1)(E - 1)^2) at f = 0.

    >>> m = OptimizedLocalHashing(22_000, epsilon=2.0)
    >>> m.g, m.digits, m.publics, m.report_bits
    (7, 6, 117649, 3)
    """

    name: ClassVar[str] = "olh"
    version: ClassVar[int] = 1
    default_method: ClassVar[str] = "mle"

    g: int = None  # type: ignore[assignment]  # searched for unless given
    salt: str = ""

    def __post_init__(self) -> None:
        self.choose_base()
        super().__post_init__()

    def _evidence(self, summary: Summary) -> Evidence:
        # seeds of one line give the same likelihood and seed 0 gives none, so that g - 1 times fewer cells tell all
        evidence = super()._evidence(summary)
        folded = self.hashes.fold(summary.counts.reshape(self.publics, self.g)).reshape(-1)
        if not folded.any():
            return evidence
        return replace(evidence, counts=folded, operator=self.operator_of(self.hashes.by_lines))


@dataclass(frozen=True)
class BinaryLocalHashing(LinearHashing):
    """Binary local hashing, "blh": g = 2, so that a report is one bit beside its seed.

    Formula: variance ((E + 1)/(E - 1))^2 at f = 0, but for rounding; serves every k and epsilon.

    >>> BinaryLocalHashing(22_000, epsilon=0.5).report_bits
    1
    """

    name: ClassVar[str] = "blh"
    version: ClassVar[int] = 1
    default_method: ClassVar[str] = "mle"

    salt: str = ""

    @property
    def g(self) -> int:
        return 2

    def __post_init__(self) -> None:
        k = Domain.of(self.domain).k
        if not fits(k, 2, self.lines):
            raise InvalidArgument("k", f"be at most {MAX_SYMBOLS // 2} for {self.name}; use grr or csr", k)
        super().__post_init__()

    def _parameters(self) -> dict[str, Any]:
        return {"salt": self.salt}


@dataclass(frozen=True)
class FastLocalHashing(LinearHashing):
    """Fast local hashing, "flh": few seeds that all users share, one of each line through 0.

    They are the fewest with which all pairs of values collide equally often: (g^d - 1)/(g - 1) of them, and a
    pair collides with (g^(d-1) - 1)/(g^d - 1), a little less than 1/g.

    >>> m = FastLocalHashing(22_000, epsilon=2.0)
    >>> m.g, m.publics, m.symbols, m.report_bits
    (7, 19608, 137256, 3)
    """

    name: ClassVar[str] = "flh"
    version: ClassVar[int] = 1
    default_method: ClassVar[str] = "mle"
    lines: ClassVar[bool] = True

    g: int = None  # type: ignore[assignment]  # searched for unless given
    salt: str = ""

    def __post_init__(self) -> None:
        self.choose_base()
        super().__post_init__()

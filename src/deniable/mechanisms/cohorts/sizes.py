"""The numbers of cohorts and buckets with the least analytic error, and the ones that cannot work.

With C cohorts of k buckets and h hashes each, S values are S unknowns in C (k - 1) equations; for random hashes
least squares then has
    n Var = unit / (k r (1 - r) (1 - y)),  y = S / (C (k - 1)),  r = 1 - (1 - 1/k)^h,
where unit is n C times the variance of a cell (for randomised response (e + k - 1)^2 / (k (e - 1)^2)). One cohort
whose buckets are all values of a closed domain, permuted, is the exception: plain randomised response, with y = 0.

Two strings can be told apart if they have different buckets in some cohort. The expected share of S random strings
that differ from all others is (1 - k^-C)^(S-1) (Kairouz, Bonawitz, Ramage 2016, section G).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from deniable.core.domain import Domain
from deniable.core.domain.open import Open
from deniable.core.errors import InvalidArgument
from deniable.core.limits import Cost, size
from deniable.core.validate import whole
from deniable.estimation.cohorts.design import MOST_LOAD
from deniable.mechanisms.layouts.bitmaps import tossing

CANDIDATES = 1024  # default number of strings an open design is meant for
MAX_COHORTS = 2**16
MAX_CELLS = 2**26
LEAST_SHARE = 0.999  # of strings that must differ from all others in some cohort
_FULL_LOAD = 0.95  # beyond, errors are over twenty times larger than with few unknowns
_FEW = 128  # most values, with one cohort, for which a closed design is tested exactly; fewer with more cohorts
_FREE_CELLS = 2**15
_PER_DOUBLING = 0.01  # error that twice as many cells must save to be worth keeping
_PER_LONGER_REPORT = 0.05
_USUAL_CELLS = 2**22
_USUAL_TABLE = 2**26  # entries of the server's table of buckets, one per value and cohort


class DesignWarning(UserWarning):
    """Warns that a design, or a list of candidates, cannot tell all values apart, and says what to do."""


@dataclass(frozen=True)
class BucketRule:
    """The numbers of buckets that suit a mechanism: any or only powers of two, with a price beyond `free`.

    Beyond `free`, twice as many buckets must save 5% of the error.
    """

    free: int | None = None
    powers: bool = False

    def allows(self, buckets: int) -> bool:
        """Whether this number of buckets is allowed."""
        return not self.powers or buckets.bit_count() == 1

    def price(self, buckets: int) -> float:
        """Penalty factor on the error for using this many buckets."""
        return 1.0 if self.free is None else 1 + _PER_LONGER_REPORT * math.log2(max(1.0, buckets / self.free))


ANY = BucketRule()


class Kind(Protocol):
    """What a mechanism's class knows of its errors before an instance is made; bound is e^epsilon."""

    bucket_rule: BucketRule

    @staticmethod
    def cell_noise(bound: float, buckets: int, hashes: int, /) -> float:
        """n C times the variance of a cell's estimated share, if no value is frequent."""
        ...

    @staticmethod
    def own_extra(bound: float, buckets: int, others: float, /) -> float:
        """Extra n Var that a user adds to the estimate of their own value, beyond `others` for any other value."""
        ...

    @staticmethod
    def plain_noise(bound: float, values: int, /) -> float:
        """n Var of a rare value where each value has a bucket of its own in the only cohort."""
        ...


def load(values: int, cohorts: int, buckets: int) -> float:
    """y: unknowns per equation."""
    return values / (cohorts * (buckets - 1))


def analytic_error(
    kind: Kind, bound: float, values: int, cohorts: int, buckets: int, hashes: int, *, permuted: bool
) -> float:
    """n Var of the least-squares estimate of a rare value; infinite where there is no such estimate."""
    if permuted and cohorts == hashes == 1 and buckets == values:
        return kind.plain_noise(bound, values)
    y = load(values, cohorts, buckets)
    if y >= 1:
        return math.inf
    r = 1 - (1 - 1 / buckets) ** hashes
    return kind.cell_noise(bound, buckets, hashes) / (buckets * r * (1 - r) * (1 - y))


@dataclass(frozen=True, order=True)
class Size:
    """A choice of cohorts and buckets: its score, the lower the better, and its n Var of a rare value."""

    score: float
    error: float
    cohorts: int
    buckets: int


def sizes(
    kind: Kind,
    bound: float,
    values: int,
    hashes: int,
    *,
    cohorts: int | None,
    buckets: int | None,
    permuted: bool,
) -> tuple[int, int]:
    """Cohorts and buckets: checked where given, and chosen for the least error where not."""
    if cohorts is not None:
        whole(1, MAX_COHORTS, cohorts=cohorts)
    if buckets is not None:
        whole(2, min(values, MAX_CELLS) if permuted else MAX_CELLS, buckets=buckets)
        if not kind.bucket_rule.allows(buckets):
            raise InvalidArgument("buckets", "be a power of two", buckets)
    if cohorts is not None and buckets is not None:
        if cohorts * buckets > MAX_CELLS:
            raise InvalidArgument("cohorts", f"be at most {MAX_CELLS // buckets} for buckets={buckets}", cohorts)
        return int(cohorts), int(buckets)
    given = {"cohorts": cohorts, "buckets": buckets}
    found = min(ranked(kind, bound, values, hashes, **given, permuted=permuted), default=None)
    if found is None:
        fixed = "".join(f" for {name}={number}" for name, number in given.items() if number is not None)
        small, larger = (
            ("", "") if fixed else (f" of up to {_USUAL_CELLS:,} cells", " For a larger one give cohorts and buckets.")
        )
        hint = f"No design{small} has enough equations.{larger}"
        raise InvalidArgument("candidates", f"be fewer{fixed}", values, hint)
    return found.cohorts, found.buckets


def ranked(
    kind: Kind,
    bound: float,
    values: int,
    hashes: int,
    *,
    cohorts: int | None = None,
    buckets: int | None = None,
    permuted: bool = False,
) -> list[Size]:
    """All choices that can work, best first, by the error averaged over values, whose frequencies are 1/S on average.

    Beyond `_FREE_CELLS`, more cells have a price. Where buckets have a price, the error is for the target "population":
    an error far below the sampling error of users is not worth longer reports.
    """
    found, rule = [], kind.bucket_rule
    for c, k in _grid(values, bound, cohorts, buckets, permuted):
        error = analytic_error(kind, bound, values, c, k, hashes, permuted=permuted)
        average = error + kind.own_extra(bound, k, error) / values
        if rule.free is not None:
            average += (1 - 1 / values) / values
        score = average * rule.price(k) * (1 + _PER_DOUBLING * math.log2(max(1.0, c * k / _FREE_CELLS)))
        apart = permuted or cohorts is not None or share_apart(values, c, k) >= LEAST_SHARE
        if error < math.inf and apart and rule.allows(k):
            found.append(Size(score, error, c, k))
    return sorted(found)


def _grid(
    values: int, bound: float, cohorts: int | None, buckets: int | None, permuted: bool
) -> Iterator[tuple[int, int]]:
    most = values if permuted else MAX_CELLS
    near = {round(bound + 1) + step for step in range(-2, 3)}
    powers = {2**power for power in range(1, 24)}
    some = {k for k in near | powers if 2 <= k <= min(most, _USUAL_CELLS)} | {most} if buckets is None else {buckets}
    for k in sorted(some):
        for c in [2**power for power in range(17)] if cohorts is None else [cohorts]:
            plain = permuted and c == 1 and k == values  # randomised response, whose table is a permutation
            few = c * k <= _USUAL_CELLS and c * values <= max(_USUAL_TABLE, values)
            if (few or plain or (cohorts, buckets) != (None, None)) and c * k <= MAX_CELLS:
                yield c, k


def share_apart(values: int, cohorts: int, buckets: int) -> float:
    """The expected share of strings that differ from all others in some cohort."""
    return math.exp((values - 1) * math.log1p(-(float(buckets) ** -cohorts)))


def few(values: int, functions: int) -> bool:
    """Whether a closed design is so small that its hash functions are tested themselves."""
    return values**2 * functions <= _FEW**2


def cost_of(
    domain: Domain, parameters: Mapping[str, object], cells_of: Callable[[int, int], int], *, symbols: bool
) -> Cost:
    """What a cohort mechanism with these sizes costs, by formula; reports are symbols, or have a bit per bucket."""
    cohorts, buckets = size(parameters, "cohorts"), size(parameters, "buckets")
    functions, values = cohorts * max(1, size(parameters, "hashes")), 0 if isinstance(domain, Open) else domain.k
    tested = values * cohorts * buckets if few(values, functions) else 0  # cells of the matrix whose rank is tested
    bits = 0 if symbols else buckets
    design = Cost(
        cells=cells_of(cohorts, buckets),
        cohorts=cohorts,
        tables=max(tested, bits),
        building=48 * tested,
        nanoseconds=(10 + values) * tested,
    )
    return design + tossing(bits)


def check_design(values: int, cohorts: int, buckets: int, *, closed: bool, permuted: bool, exact: bool) -> None:
    """Refuse a design that cannot tell its values apart; with `exact` the caller tests the hashes themselves."""
    plain = permuted and cohorts == 1 and buckets == values
    if not plain and not exact and share_apart(values, cohorts, buckets) < LEAST_SHARE:
        needed = math.ceil(math.log(values / (1 - LEAST_SHARE)) / math.log(buckets)) + 1
        rule = f"be at least {needed} for {values} values in {buckets} buckets"
        raise InvalidArgument("cohorts", rule, cohorts, "Too many values would share all their buckets.")
    if closed and not plain and load(values - 1, cohorts, buckets) > _FULL_LOAD:
        needed = math.ceil((values - 1) / (MOST_LOAD * (buckets - 1)))
        rule = f"be about {needed} for {values} values in {buckets} buckets"
        raise InvalidArgument("cohorts", rule, cohorts, "There are too few equations.")


def advice_on(values: int, cohorts: int, buckets: int) -> str:
    """A warning that least squares cannot tell the candidates of an open domain apart; empty if it can."""
    if load(values, cohorts, buckets) <= MOST_LOAD:
        return ""
    needed = math.ceil(values / (MOST_LOAD * (buckets - 1)))
    return (
        f"cohorts={cohorts} and buckets={buckets} are too few to tell {values} candidates apart by least squares. "
        f"Use {needed} cohorts, decode with fewer candidates, or decode by selection."
    )

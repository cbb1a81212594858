"""The forecasts of mechanisms that hash values to buckets, for closed domains and for candidates of open ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from deniable.core.errors import InvalidArgument
from deniable.estimation.channel import PureChannel
from deniable.estimation.operators.block_noise import same_block_share
from deniable.mechanisms.base.definition import float_bound
from deniable.mechanisms.cohorts.base import CohortMechanism
from deniable.mechanisms.cohorts.bloom_response import BloomResponse
from deniable.mechanisms.cohorts.flipped_filters import FlippedFilters
from deniable.mechanisms.cohorts.hadamard_sketch import HadamardSketch
from deniable.mechanisms.cohorts.hashed_response import HashedResponse
from deniable.mechanisms.cohorts.sizes import Size, analytic_error, load, ranked, sizes
from deniable.mechanisms.cohorts.sketches import CountMeanSketch
from deniable.mechanisms.forecasts.forecast import Forecast
from deniable.mechanisms.forecasts.formulas import guessed, symbol_bits

KINDS: dict[str, type[CohortMechanism]] = {
    kind.name: kind for kind in (BloomResponse, CountMeanSketch, HadamardSketch, HashedResponse)
}
HASHES = (1, 2, 4, 8, 16)  # numbers of hash functions tried, for mechanisms that take several


def closed(name: str, k: int, epsilon: float) -> Forecast:
    """The forecast for k listed values, with the sizes that the mechanism chooses."""
    kind, bound = KINDS[name], float_bound(epsilon)
    cohorts, buckets = sizes(kind, bound, k, 1, cohorts=None, buckets=None, permuted=kind.permutes)
    noise = _closed_noise(kind, bound, k, cohorts, buckets)
    return _forecast(kind, k, epsilon, noise, {"cohorts": cohorts, "buckets": buckets})


def _closed_noise(kind: type[CohortMechanism], bound: float, k: int, cohorts: int, buckets: int) -> tuple[float, float]:
    """n Var of a rare value, and the extra for users who have the value, where frequencies add up to 1."""
    if issubclass(kind, HashedResponse):
        # permuted values collide a little less often than hashed ones; by one report per person the channel is pure
        p, same = bound / (bound + buckets - 1), float(same_block_share(k, buckets))
        v0, v1, _ = PureChannel(p, same * p + (1 - same) * (1 - p) / (buckets - 1)).noise("users")  # type: ignore[arg-type]
        if cohorts == 1:
            return v0, v1
        others = v0 / (1 - load(k - 1, cohorts, buckets))
        return others, kind.own_extra(bound, buckets, others)
    error = analytic_error(kind, bound, k, cohorts, buckets, 1, permuted=kind.permutes)
    kept = 1 - 1 / k  # the share of the variance that remains when frequencies are made to add up to 1
    if not issubclass(kind, HadamardSketch):
        return error * kept, 0.0
    extra = -(1 - 2 / k)
    return (error - 1 / k) * kept - extra / k, extra


def best_open(name: str, candidates: int, epsilon: float, max_bits: int | None = None) -> Forecast:
    """The forecast for this many candidates of an open domain, with the sizes of least error within `max_bits`."""
    found = next((each for each in open_sizes(name, candidates, epsilon) if each.bits <= (max_bits or each.bits)), None)
    if found is None:
        hint = f"No design for {candidates} candidates is small enough."
        raise InvalidArgument("max_bits", f"be larger for {name}", max_bits, hint)
    return found


def open_sizes(name: str, candidates: int, epsilon: float) -> Iterator[Forecast]:
    """The forecasts of all choices of sizes for candidates of an open domain, best first."""
    kind, bound = KINDS[name], float_bound(epsilon)
    several = HASHES if "hashes" in kind.__dataclass_fields__ else (1,)
    found: list[tuple[Size, int]] = sorted(
        (size, hashes) for hashes in several for size in ranked(kind, bound, candidates, hashes)
    )
    for size, hashes in found:
        options: dict[str, Any] = {"cohorts": size.cohorts, "buckets": size.buckets, "candidates": candidates}
        options |= {"hashes": hashes} if len(several) > 1 else {}
        yield open_forecast(kind, candidates, epsilon, options)


def open_forecast(kind: type[CohortMechanism], candidates: int, epsilon: float, options: Mapping[str, Any]) -> Forecast:
    """The forecast for candidates of an open domain, with these cohorts, buckets and hashes."""
    bound, cohorts, buckets = float_bound(epsilon), options["cohorts"], options["buckets"]
    error = analytic_error(kind, bound, candidates, cohorts, buckets, options.get("hashes", 1), permuted=False)
    # of one bit per report, every one has the same square, and the mean is 1 for a user who has the value
    extra = -1.0 if issubclass(kind, HadamardSketch) else kind.own_extra(bound, buckets, error)
    return _forecast(kind, candidates, epsilon, (error, extra), options)


def _forecast(
    kind: type[CohortMechanism], k: int, epsilon: float, noise: tuple[float, float], options: Mapping[str, Any]
) -> Forecast:
    bound, cohorts, buckets = float_bound(epsilon), options["cohorts"], options["buckets"]
    if issubclass(kind, FlippedFilters):
        bits, attack = symbol_bits(cohorts) + buckets, bound / (bound + k - 1)  # an upper bound
    elif issubclass(kind, HadamardSketch):
        bits, attack = symbol_bits(2 * cohorts * (buckets - 1)), guessed(bound, k, 1 / 2)
    else:
        bits, attack = symbol_bits(cohorts * buckets), guessed(bound, k, 1 / buckets)
    return Forecast(kind.name, k, epsilon, epsilon, (*noise, 0.0), bits, attack, average=True, options=options)

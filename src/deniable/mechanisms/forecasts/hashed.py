"""The forecasts of mechanisms that hash values to buckets, for closed domains and for candidates of open ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from deniable.core.errors import InvalidArgument
from deniable.mechanisms.base.definition import float_bound
from deniable.mechanisms.cohorts.base import CohortMechanism
from deniable.mechanisms.cohorts.bloom_response import BloomResponse
from deniable.mechanisms.cohorts.flipped_filters import FlippedFilters
from deniable.mechanisms.cohorts.hadamard_sketch import HadamardSketch
from deniable.mechanisms.cohorts.hashed_response import HashedResponse
from deniable.mechanisms.cohorts.sizes import Size, analytic_error, ranked, sizes
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
    error = analytic_error(kind, bound, k, cohorts, buckets, 1, permuted=kind.permutes)
    return _forecast(kind, k, epsilon, error, {"cohorts": cohorts, "buckets": buckets})


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
        yield _forecast(kind, candidates, epsilon, size.error, options)


def _forecast(kind: type[CohortMechanism], k: int, epsilon: float, error: float, options: dict[str, Any]) -> Forecast:
    bound, cohorts, buckets = float_bound(epsilon), options["cohorts"], options["buckets"]
    if issubclass(kind, FlippedFilters):
        bits, attack = symbol_bits(cohorts) + buckets, bound / (bound + k - 1)  # an upper bound
    elif issubclass(kind, HadamardSketch):
        bits, attack = symbol_bits(2 * cohorts * (buckets - 1)), guessed(bound, k, 1 / 2)
    else:
        bits, attack = symbol_bits(cohorts * buckets), guessed(bound, k, 1 / buckets)
    # one-bit reports: every report has the same square, and the mean is 1 for a user who has the value
    extra = -1.0 if issubclass(kind, HadamardSketch) else kind.own_extra(bound, buckets, error)
    noise = (error, extra, 0.0)
    return Forecast(kind.name, k, epsilon, epsilon, noise, bits, attack, average=True, options=options)

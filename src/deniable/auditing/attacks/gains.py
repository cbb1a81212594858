"""The most that one false report adds to the estimates of a number of values, whichever they are.

phi(y) lists what a report y adds to n times the estimate of every value. Liars choose both the report and the values,
so that r values gain, together,

    max over reports y of  the sum of the r largest entries of phi(y)

Where reports of a kind are alike, one of the kind is enough: the report that supports most values of a pure channel,
or of each block. Small channels are enumerated. What remains are sketches and modular subsets, whose estimates weigh
all cells of a summary: there a bound is given, and what was reached.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from deniable.core.arrays import Floats, Indices
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.channels.finite_channel import FiniteChannel
from deniable.mechanisms.designs.hybrid_geometry import HybridProjectiveGeometryResponse
from deniable.mechanisms.hadamard.blocks import HadamardMechanism
from deniable.mechanisms.layouts.layout import Payload
from deniable.mechanisms.layouts.symbols import SymbolLayout

EXACT, BOUND, TRIED = "exact", "at most", "of the values tried"
_REPORTS = 4096  # that are enumerated, whatever their shape
_ENTRIES = 2**24  # of phi, for reports that are symbols
_VALUES = 256  # whose best reports are all looked at; of more, some
_SOME = 64


@dataclass(frozen=True)
class Gain:
    """What one report adds to a value, at least and at most, and to the best `many` values together.

    `rule` says what `together` is: exact, an upper bound of it, or the most for the sets that were tried. `reached` is
    what a report was found to add, and `places` the values to which it adds that.
    """

    least: float
    most: float
    together: float
    reached: float
    places: tuple[int, ...]
    rule: str = EXACT


def largest_gain(mechanism: Mechanism, many: int) -> Gain:
    """The most that a report adds to `many` values of a closed domain together."""
    if mechanism.influence is not None:
        return _alike(mechanism, many)
    rows = _enumerated(mechanism)
    return _searched(mechanism, many) if rows is None else _of_rows(rows, many)


def gain_of(mechanism: Mechanism, places: tuple[int, ...]) -> Gain:
    """The most that a report adds to the values at these places, each alone and all together."""
    ends = mechanism.influence
    if ends is None:
        found = [mechanism.additions(_indicator(mechanism.k, (place,))) for place in places]
        ends = min(low for low, _ in found), max(high for _, high in found)
    together = mechanism.additions(_indicator(mechanism.k, places))[1]
    return Gain(*ends, together, together, places)


def _alike(mechanism: Mechanism, many: int) -> Gain:
    """Where all values are alike, and so are reports but for the number of values that they support."""
    least, most = mechanism.influence or (0.0, 0.0)
    if not isinstance(mechanism.layout, SymbolLayout):  # any set of values, or of so many, can be marked
        chosen = tuple(range(many))
        together = mechanism.additions(_indicator(mechanism.k, chosen))[1]
        return Gain(least, most, together, together, chosen)
    found = [_top(_adds(mechanism, payload), many) for payload in _fullest(mechanism)]
    together, places = max(found, key=lambda each: each[0])
    return Gain(least, most, together, together, places)


def _adds(mechanism: Mechanism, payload: Payload) -> Floats:
    """phi: what one report adds to n times the estimate of every value."""
    return mechanism.unbiased(mechanism.summarize(np.array([payload])))


def _fullest(mechanism: Mechanism) -> Iterator[int]:
    """A report that supports most values: of all, or of the values of the first and of the last block."""
    blocks = _blocks(mechanism)
    # blocks hold one of two numbers of values, and reports of blocks of one size are alike
    for block in {0, blocks - 1}:
        inside = (np.arange(mechanism.k) % blocks == block).astype(np.float64)
        yield int(np.argmax(mechanism.scores(inside)))


def _blocks(mechanism: Mechanism) -> int:
    if mechanism.channel is None:
        if isinstance(mechanism, HybridProjectiveGeometryResponse):
            return mechanism.h
        if isinstance(mechanism, HadamardMechanism):
            return mechanism.agreement.blocks
    return 1


def _enumerated(mechanism: Mechanism) -> Floats | None:
    """phi of every report, a row per report; None if they are too many."""
    k = mechanism.k
    if isinstance(mechanism, FiniteChannel) or isinstance(mechanism.layout, SymbolLayout):
        if k * mechanism.layout.cells > _ENTRIES:
            return None
        if type(mechanism).scores is Mechanism.scores:  # one estimate for each report, whatever the weights are
            return np.stack([_adds(mechanism, payload) for payload in range(mechanism.layout.cells)])
        return np.stack([mechanism.scores(unit) for unit in np.eye(k)], axis=1)
    payloads = list(islice(mechanism.layout.all(), _REPORTS + 1)) if mechanism.layout.cells <= _REPORTS else []
    if not payloads or len(payloads) > _REPORTS:
        return None
    return np.stack([_adds(mechanism, payload) for payload in payloads])


def _of_rows(rows: Floats, many: int) -> Gain:
    best = np.partition(rows, rows.shape[1] - many, axis=1)[:, -many:].sum(axis=1)
    together, places = _top(rows[int(np.argmax(best))], many)
    return Gain(float(rows.min()), float(rows.max()), together, together, places)


def _searched(mechanism: Mechanism, many: int) -> Gain:
    """A bound by the best reports of single values, and what some sets of values reach."""
    k = mechanism.k
    tried = np.arange(k) if k <= _VALUES else np.arange(_SOME) * k // _SOME
    ends = np.array([mechanism.additions(_indicator(k, (place,))) for place in tried.tolist()])
    order = tried[np.argsort(-ends[:, 1], kind="stable")]
    rest = np.setdiff1d(np.arange(k), order)
    sets = [tuple(np.append(order, rest)[:many].tolist()), tuple(k * place // many for place in range(many))]
    reached, places = max((mechanism.additions(_indicator(k, each))[1], each) for each in [*sets, tuple(range(many))])
    least, most = float(ends[:, 0].min()), float(ends[:, 1].max())
    if many == 1:
        reached, places = most, (int(order[0]),)
    if len(tried) < k:
        return Gain(least, most, reached, reached, places, TRIED)
    # no report adds more to a set than the best reports of its values add to them
    bound = float(np.sort(ends[:, 1])[-many:].sum())
    return Gain(least, most, bound, reached, places, EXACT if many == 1 else BOUND)


def _top(adds: Floats, many: int) -> tuple[float, tuple[int, ...]]:
    order = np.argsort(-adds, kind="stable")[:many]
    return float(adds[order].sum()), tuple(sorted(order.tolist()))


def _indicator(k: int, places: tuple[int, ...] | Indices) -> Floats:
    weights = np.zeros(k)
    weights[np.asarray(places)] = 1.0
    return weights

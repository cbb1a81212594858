"""What the guessing game cannot see: how reports depend on each other, on chance used twice, and on public parts.

Every test here has an exact level; together they accuse sound code less than once in 10^10 runs.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from deniable.auditing.empirical.bounds import lower_limit
from deniable.auditing.empirical.game import Values
from deniable.auditing.empirical.tables import ALPHA, dependent, uneven
from deniable.core.arrays import Indices
from deniable.core.errors import DeniableError
from deniable.core.reports import Reports
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.hashing.public_coins import PublicCoin
from deniable.randomness.keystream import Keystream

_REPORTS = 100_000
_ENCODED = 5_000
_BY_ID = 2_000
_BINS = 64
_STREAMS = 64
_MOST_VALUES = 16
_BYTES = 2**26


def companions(mechanism: Mechanism, values: Values, generator: np.random.Generator) -> Iterator[str]:
    """Everything that is wrong with reports besides how much each tells of its own value."""
    chosen = generator.permutation(len(values.labels))[:_MOST_VALUES]
    n = max(2_000, min(_REPORTS, _BYTES // (mechanism.layout.row_bytes + 1)))
    drawn = generator.integers(len(chosen), size=n)
    labels = [values.labels[chosen[place]] for place in drawn.tolist()]
    reports = mechanism.privatize(labels)
    if reports.simulated:
        yield "reports made without a seed are marked as simulated: their randomness can be repeated"
        return
    yield from _streams()
    yield from _repeated(mechanism, labels[: _ENCODED // 5], drawn, reports)
    yield from _neighbours(mechanism, values.indices[chosen[drawn]], reports)
    yield from _public(mechanism, drawn, values.indices[chosen[drawn]], reports)
    yield from _encoded(mechanism, reports[:_ENCODED])
    if isinstance(mechanism, PublicCoin):
        yield from _by_id(mechanism, labels[:_BY_ID], generator)


def _streams() -> Iterator[str]:
    """Every report has random words of its own, and so has its overflow."""
    keystream = Keystream.fresh()
    words = keystream.stream(0).words(_STREAMS).tolist()
    for place in range(_STREAMS):
        overflow = keystream.overflow(place)
        words += [int(next(overflow)) for _ in range(2)]
    if len(set(words)) < len(words):
        yield "reports share random words: two streams of a keystream hold the same ones"


def _repeated(mechanism: Mechanism, labels: list[object], drawn: Indices, reports: Reports) -> Iterator[str]:
    """Two calls must not use the same randomness."""
    again = mechanism.privatize(labels)
    same = np.asarray(again.data == reports.data[: len(labels)])
    if same.all() and len(labels) * np.log(_agreement(drawn, reports)) < np.log(ALPHA):
        yield f"two calls made the same {len(labels)} reports: their randomness is not fresh"


def _agreement(drawn: Indices, reports: Reports) -> float:
    """How often two reports of one value are the same, at most: at a large epsilon that is nearly always."""
    order = np.argsort(drawn, kind="stable")
    one, other = order[0 : len(order) - 1 : 2], order[1::2]
    rows = reports.data.reshape(len(drawn), -1)
    alike = drawn[one] == drawn[other]
    differ = np.asarray(rows[one[alike]] != rows[other[alike]]).any(axis=1)
    return 1 - lower_limit(int(np.count_nonzero(differ)), differ.size, ALPHA)


def _neighbours(mechanism: Mechanism, indices: Indices, reports: Reports) -> Iterator[str]:
    """Whether a report supports its own value must not depend on whether one before did, next to it or far away."""
    own = np.empty(len(indices), np.bool_)
    for index in np.unique(indices):
        mine = indices == index
        own[mine] = mechanism.supported(reports.data[mine], np.array([index]))[:, 0]
    lags = _lags(len(own))
    for lag in lags:
        places = np.arange(len(own) - lag)
        pairs = places[places // lag % 2 == 0]  # no report is in two of them
        if dependent(own[pairs].astype(np.int64), own[pairs + lag].astype(np.int64), 2 * ALPHA / len(lags)):
            yield f"reports depend on the report {lag} before them: randomness is used twice"
            return


def _lags(n: int) -> list[int]:
    """Distances at which chance may come again: neighbours, parts of powers of two, and parts of the whole."""
    return sorted({2**power for power in range((n // 2).bit_length())} | {n // parts for parts in (2, 3, 4, 5)})


def _public(mechanism: Mechanism, drawn: Indices, indices: Indices, reports: Reports) -> Iterator[str]:
    """The part of a report that is drawn without the value must not depend on it."""
    public = mechanism.public_part(reports.data)
    if public is None or public.max() == 0:
        return
    count = int(public.max()) + 1
    by_size = public * min(_BINS, count) // count
    for bins in (by_size, public % _BINS):
        if dependent(bins, drawn):
            yield "the public part of a report, such as its seed or cohort, depends on the value"
            return
    own = public == indices
    if isinstance(mechanism, PublicCoin) and own.sum() >= 200:
        sent = reports.data[own].astype(np.int64) % mechanism.classes
        none = [
            index
            for index in np.unique(indices[own])
            if mechanism._class_under(int(index), int(index)) == mechanism.classes
        ]
        alone = np.isin(indices[own], none)
        if none and uneven(sent[alone], mechanism.classes):
            yield "where the public number is that of the value itself, the class is not uniform, and gives it away"


def _encoded(mechanism: Mechanism, reports: Reports) -> Iterator[str]:
    """The bytes must hold the report and nothing else: one length, and one code for each report."""
    try:
        codes = mechanism.encode_many(reports)
        lengths = sorted({len(code) for code in codes})
        if len(lengths) > 1:
            yield f"encoded reports have lengths from {lengths[0]} to {lengths[-1]} bytes, which may tell values apart"
            return
        decoded = mechanism.decode_many(codes)
        if not np.array_equal(decoded.data, reports.data):
            yield "encoded reports decode to other reports"
        elif mechanism.encode_many(Reports(decoded.data, mechanism.fingerprint)) != codes:
            yield "the same report is written in several ways: its bytes may tell more than the report"
    except DeniableError as error:
        yield f"reports that the code makes cannot be encoded and decoded: {error}"


def _by_id(mechanism: PublicCoin, labels: list[object], generator: np.random.Generator) -> Iterator[str]:
    """Reports under ids that the auditor draws: the public number follows from the id, and the class is as likely."""
    from scipy.stats import binom

    supporting, wrong = 0, 0
    for label in labels:
        name = generator.bytes(16)
        payload = int(mechanism.privatize_for(label, name).payload)  # type: ignore[arg-type]
        wrong += payload // mechanism.classes != mechanism.public_coin(name)
        supporting += mechanism.supports(payload, mechanism.domain.index(label))
    if wrong:
        yield f"{wrong} of {len(labels)} reports made under an id have another public number than the id gives"
    chance = float(mechanism.publics * mechanism.two_level.high)
    if binom.sf(supporting - 1, len(labels), chance) < ALPHA:
        yield "reports made under an id support their sender's value more often than reports without one"

"""What every mechanism promises, as checks that take a mechanism and fail with AssertionError.

They run over the registry (test_contract.py), and on mechanisms with planted faults, each of which must
be caught (faults.py, and a list in the test file of each mechanism).
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import fields
from fractions import Fraction
from typing import Any

import flint
import numpy as np
from scipy.optimize import brentq
from scipy.stats import chi2, ncx2

import deniable as dn
from deniable.estimation.channel import Listing, PureChannel
from deniable.mechanisms.base.client import _CHUNK_WORDS as CHUNK_WORDS
from deniable.mechanisms.base.definition import Payload
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.randomness.bounds import exponential_below
from deniable.randomness.choices import Choices
from deniable.randomness.keystream import Keystream
from tests.contract import settings

ALPHA = 1e-9  # false alarms of each statistical check
POWER = 0.9999  # of the chi-square of the sampler, for the defect it is asked to see

# The exact channel: for each report its probability under every value.
Table = dict[Payload, list[Fraction]]


def coarse(mechanism: Mechanism, bits: int) -> Mechanism:
    """The same code on words that are multiples of 2^(64 - bits): as if words had that many bits."""
    made = object.__new__(type(mechanism))
    for field in fields(mechanism):  # and nothing that was derived later and kept
        object.__setattr__(made, field.name, getattr(mechanism, field.name))
    thresholds = mechanism._thresholds(exponential_below(mechanism.epsilon), 2**bits)
    object.__setattr__(made, "thresholds", {name: t << (64 - bits) for name, t in thresholds.items()})
    object.__setattr__(made, "word_bits", bits)
    made._derive()
    return made


def tally(payloads: np.ndarray) -> Counter[Payload]:
    """How often each payload occurs in an array of them."""
    widths = [int(most).bit_length() for most in payloads.max(0)] if payloads.ndim == 2 and len(payloads) else []
    if 0 < sum(widths) <= 64:  # numbers are sorted faster than rows, and small ones counted faster than sorted
        starts = np.cumsum([0, *widths[:-1]]).astype(np.uint64)
        numbers = np.zeros(len(payloads), np.uint64)
        for column, start in zip(payloads.T, starts, strict=True):
            numbers |= column.astype(np.uint64) << start
        if sum(widths) <= 16:
            every = np.bincount(numbers.astype(np.intp))
            numbers = np.flatnonzero(every).astype(np.uint64)
            counts = every[numbers]
        else:
            numbers, counts = np.unique(numbers, return_counts=True)
        rows = numbers[:, np.newaxis] >> starts & np.array([2**width - 1 for width in widths], np.uint64)
    else:
        rows, counts = np.unique(payloads, axis=0, return_counts=True)
    return Counter(dict(zip(map(payload_key, rows), counts.tolist(), strict=True)))


def payload_key(entry: object) -> Payload:
    """A row of a payload array as `all_payloads` writes it."""
    return tuple(entry.tolist()) if np.ndim(entry) else int(entry)  # type: ignore[attr-defined, call-overload]


def channel_of(m: Mechanism) -> Table:
    """All probabilities, of the indices; the first and the last report are asked for in public, under every value."""
    table = {payload: [m._probability(payload, index) for index in range(m.k)] for payload in m.all_payloads()}
    for payload in (next(iter(table)), next(reversed(table))):
        assert [m.probability(payload, value) for value in m.domain.all_labels()] == table[payload]
    return table


def check_channel_sums_to_one(m: Mechanism, table: Table | None = None) -> None:
    columns = (table or channel_of(m)).values()
    for index in range(m.k):
        assert sum(column[index] for column in columns) == 1


def check_largest_ratio_is_within_epsilon(m: Mechanism, table: Table | None = None) -> None:
    largest = max(max(column) / min(column) for column in (table or channel_of(m)).values())
    bound = exponential_below(m.epsilon)
    guarantee = m.guarantee()
    assert largest == guarantee.ratio, "the guarantee must be that of the channel"
    assert guarantee.ratio <= bound
    with flint.ctx.workprec(300):
        e_epsilon = flint.arb(m.epsilon).exp()
        assert flint.arb(flint.fmpq(bound.numerator, bound.denominator)) <= e_epsilon
        log_ratio = flint.arb(flint.fmpq(guarantee.ratio.numerator, guarantee.ratio.denominator)).log()
        assert flint.arb(guarantee.epsilon) >= log_ratio
        assert 0 <= flint.arb(guarantee.slack) <= flint.arb(m.epsilon) - log_ratio


def check_reconstruction_rate(m: Mechanism, table: Table | None = None) -> None:
    # the best guess takes, for each report, the value under which it is likeliest
    assert m.reconstruction_rate() == sum(map(max, (table or channel_of(m)).values())) / len(m.domain.all_labels())


def every_word(m: Mechanism, bits: int) -> np.ndarray:
    """All words of one report, for words of that many bits: one row per report."""
    if m.name in settings.WORDS:
        return settings.WORDS[m.name](m, bits)
    grid = np.arange(2**bits, dtype=np.uint64) << np.uint64(64 - bits)
    return np.stack(np.meshgrid(*[grid] * m.stride, indexing="ij"), axis=-1).reshape(-1, m.stride)


def check_kernel_makes_the_channel(m: Mechanism, bits: int) -> None:
    small = coarse(m, bits)
    words = every_word(m, bits).reshape(-1)
    n = len(words) // m.stride
    rejections = set()
    for index, value in enumerate(m.domain.all_labels()):
        out = small.empty_payloads(n)
        again = small.randomize(np.full(n, index, np.int64), words, out)
        rejections.add(len(again))
        accepted = np.delete(out, again, axis=0)
        _matches_channel(small, value, tally(accepted), len(accepted))
    assert len(rejections) == 1, "how often a draw is rejected must not depend on the value"


class _Counting:
    """Words that can tell how many were read."""

    def __init__(self, words: Iterable[int]) -> None:
        self.words, self.read = words, 0

    def __iter__(self) -> Iterator[int]:
        for word in self.words:
            self.read += 1
            yield word


def check_plain_path_makes_the_channel(m: Mechanism, bits: int) -> None:
    small = coarse(m, bits)
    rejections = set()
    for index, value in enumerate(m.domain.all_labels()):
        seen: Counter[Payload] = Counter()
        rejected = 0
        for words in every_word(m, bits).tolist():
            own, overflow = _Counting(words), _Counting(itertools.repeat(2**64 - 1))  # which is never rejected
            payload = small.randomize_one(index, Choices(own, iter(overflow)))
            assert own.read == m.stride, "every report must read all its words, whatever its value and coins"
            if overflow.read:
                rejected += 1
            else:
                seen[payload] += 1
        rejections.add(rejected)
        _matches_channel(small, value, seen, seen.total())
    assert len(rejections) == 1, "how often a draw is rejected must not depend on the value"


def _matches_channel(m: Mechanism, value: object, seen: Counter[Payload], total: int) -> None:
    chances = {payload: m.probability(payload, value) for payload in m.all_payloads()}
    assert total > 0
    assert seen.keys() <= chances.keys()
    kind = settings.KINDS.get(m.name, lambda _: None)
    for each in set(map(kind, chances)):
        # without rejected reports, kinds are no longer as frequent as in the channel; within one, all reports are
        own = {payload: chance for payload, chance in chances.items() if kind(payload) == each}
        total, share = sum(seen[payload] for payload in own), sum(own.values())
        assert total > 0
        assert all(seen[payload] * share == total * chance for payload, chance in own.items())


def chi_square_rejects(observed: np.ndarray, expected: np.ndarray) -> bool:
    """Whether Pearson's statistic exceeds its true quantile at ALPHA."""
    used = expected > 0
    assert observed[~used].sum() == 0
    statistic = float(((observed - expected)[used] ** 2 / expected[used]).sum())
    return statistic > chi2.isf(ALPHA, int(used.sum()) - 1)


def samples_for(defect: float, cells: int) -> int:
    """Reports needed to see one cell off by `defect` of its expected share 1/cells, with power 99.99%.

    The statistic then has noncentrality n defect^2/cells.
    """
    limit = chi2.isf(ALPHA, cells - 1)
    enough = limit + 10 * math.sqrt(2 * (cells - 1) + 4 * limit)  # ten standard deviations beyond the quantile
    noncentrality = brentq(lambda nc: ncx2.sf(limit, cells - 1, nc) - POWER, 1.0, enough)
    return math.ceil(noncentrality * cells / defect**2)


def check_sampler_follows_channel(m: Mechanism, seed: int, defect: float = 0.05) -> None:
    possible = {payload: place for place, payload in enumerate(m.all_payloads())}
    n = samples_for(defect, len(possible))
    for value in m.domain.all_labels():
        reports = m.privatize(np.full(n, value), seed=seed)
        observed = np.zeros(len(possible))
        for payload, count in tally(reports.data).items():
            observed[possible[payload]] = count
        expected = n * np.array([float(m.probability(payload, value)) for payload in possible])
        assert not chi_square_rejects(observed, expected)


def check_simulation_follows_channel(m: Mechanism, seed: int) -> None:
    # all users have one value: each cell is then a sum of independent numbers, whose moments the channel gives
    n = 400_000
    cells_of = np.array([m.summarize(payload_array(m, [payload])).counts for payload in m.all_payloads()])
    for index, value in enumerate(m.domain.all_labels()):
        true = np.zeros(m.k, np.int64)
        true[index] = n
        summary = dn.simulate(m, true, seed=seed)
        assert summary.simulated
        assert summary.n == n
        chances = np.array([float(m.probability(payload, value)) for payload in m.all_payloads()])
        means = chances @ cells_of
        spread = np.sqrt(n * np.maximum(chances @ cells_of**2 - means**2, 0))
        assert (np.abs(summary.counts - n * means) <= 6.2 * spread + 1e-6).all()  # two-sided 1e-9 each


def check_unbiased_and_variance(m: Mechanism) -> None:
    """One report determines everything, since the estimate is the mean of what single reports say."""
    possible = list(m.all_payloads())
    labels = m.domain.all_labels()
    chance = np.array([[float(m.probability(payload, value)) for payload in possible] for value in labels])
    says = np.array([_unbiased(m, [payload]) for payload in possible])
    scale = float(np.abs(says).max()) ** 2
    _close(chance @ says, np.eye(m.k), scale)
    spread = chance @ says**2 - np.eye(m.k)  # [value, estimated value]: variance that one such user adds
    own, others = np.diag(spread), spread[~np.eye(m.k, dtype=bool)]
    if getattr(m, "channel", None) is None:  # not pure: the stated variance is the average over values
        own, others = np.array([own.mean()]), np.array([others.mean()])
    _close(own, np.full(own.shape, m.variance(1.0, target="users")), scale)
    _close(others, np.full(others.shape, m.variance(0.0, target="users")), scale)
    _close(np.array([m.variance(0.3, n=7)]), (0.3 * own.mean() + 0.7 * others.mean()) / 7, scale)
    sampling = m.variance(0.3, n=7, target="population") - m.variance(0.3, n=7, target="users")
    _close(np.array([sampling]), 0.3 * 0.7 / 7, scale)


def check_estimate_is_a_mean_over_reports(m: Mechanism, seed: int) -> None:
    possible = list(m.all_payloads())
    chosen = [possible[place] for place in np.random.default_rng(seed).integers(0, len(possible), 9)]
    mean = np.mean([_unbiased(m, [payload]) for payload in chosen], axis=0)
    _close(_unbiased(m, chosen), mean, float(np.abs(mean).max()))


def payload_array(m: Mechanism, payloads: list[Payload]) -> np.ndarray:
    """Payloads in the layout of a batch."""
    out = m.empty_payloads(len(payloads))
    for place, payload in enumerate(payloads):
        out[place] = payload
    return out


def _unbiased(m: Mechanism, payloads: list[Payload]) -> np.ndarray:
    return m.estimate(m.summarize(payload_array(m, payloads)), "unbiased").frequencies


def _close(found: np.ndarray, wanted: np.ndarray | float, scale: float) -> None:
    assert np.abs(found - wanted).max() <= 1e-11 * max(1.0, scale)


def check_exact_and_unbiased(m: Mechanism, seed: int) -> None:
    """Most of the contract, for shapes that are not among the settings of the registry."""
    check_channel_sums_to_one(m)
    check_largest_ratio_is_within_epsilon(m)
    check_reconstruction_rate(m)
    check_unbiased_and_variance(m)
    check_unbiased_and_variance(coarse(m, 8))
    check_batch_equals_one_by_one(m, seed)


def check_error_is_the_stated_one(m: Mechanism, true: np.ndarray, method: str, seed: int) -> None:
    """Over users enough that the mean squared error of k values is near what `variance` says."""
    n = int(true.sum())
    estimate = m.estimate(m.summarize(m.privatize(np.repeat(np.arange(m.k), true), seed=seed)), method)
    squared = float(((estimate.frequencies - true / n) ** 2).mean())
    expected = float(np.mean([m.variance(f, n) for f in true / n]))
    if method == "unbiased":
        assert abs(squared - expected) <= (6 * math.sqrt(2 / m.k) + 0.03) * expected
    else:
        assert squared <= 1.05 * expected


def check_operator_is_the_channel(m: Mechanism, seed: int) -> None:
    """Its columns are the cells of a summary, of which each counts one report."""
    matrix = np.zeros((m.k, m.cells))
    for payload in m.all_payloads():
        counts = m.summarize(payload_array(m, [payload])).counts
        assert counts.sum() == counts.max() == 1, "a summary that carries the likelihood counts a report in one cell"
        matrix[:, counts.argmax()] += [float(m._probability(payload, index)) for index in range(m.k)]
    check_operator_is(m.operator(), matrix, seed)


def check_operator_is(operator: Any, matrix: np.ndarray, seed: int) -> None:
    """It multiplies by that matrix, a row for each value, and lists its entries if it can."""
    rng = np.random.default_rng(seed)
    weights, scores = rng.random(len(matrix)), rng.random(matrix.shape[1])
    np.testing.assert_allclose(operator.forward(weights), weights @ matrix, rtol=1e-12)
    np.testing.assert_allclose(operator.adjoint(scores), matrix @ scores, rtol=1e-12)
    np.testing.assert_allclose(operator.adjoint_squared(scores), matrix**2 @ scores, rtol=1e-11)
    if isinstance(operator, Listing):
        values, reports = rng.permutation(len(matrix)), rng.permutation(matrix.shape[1])
        np.testing.assert_allclose(operator.entries(values, reports), matrix[np.ix_(values, reports)], rtol=1e-12)


def check_batch_equals_one_by_one(m: Mechanism, seed: int) -> None:
    keystream = Keystream.seeded(seed)
    indices = np.random.default_rng(seed).integers(0, m.k, 500)
    batch = m.payloads(indices, keystream)
    stream = keystream.stream(0)
    for i, index in enumerate(indices.tolist()):
        words = stream.words(m.stride).tolist()
        assert payload_key(batch[i]) == m.randomize_one(index, Choices(words, keystream.overflow(i)))
    few = m.payloads(indices[:5], keystream)
    assert np.array_equal(few, batch[:5])


def check_rejected_draws_use_the_overflow_stream(m: Mechanism, seed: int) -> None:
    # with few bits many draws are rejected; both paths must still agree
    check_batch_equals_one_by_one(coarse(m, settings.coarse_bits(m)), seed)


def check_overflow_is_indexed_by_report_beyond_the_first_chunk(m: Mechanism, seed: int) -> None:
    # the base hands words to the kernel in chunks; a report's overflow must not restart with each
    small, keystream, shown = coarse(m, settings.coarse_bits(m)), Keystream.seeded(seed), 400
    n = CHUNK_WORDS // m.stride + shown
    indices = np.random.default_rng(seed).integers(0, m.k, n)
    batch = small.payloads(indices, keystream)
    words = keystream.stream(0).words(n * m.stride).reshape(n, m.stride)[-shown:].tolist()
    replaced = 0
    for i, own in enumerate(words, start=n - shown):
        overflow = _Counting(keystream.overflow(i))
        assert payload_key(batch[i]) == small.randomize_one(int(indices[i]), Choices(own, iter(overflow)))
        replaced += overflow.read > 0
    assert replaced > 0 or not any(name.startswith("rejection") and t for name, t in small.thresholds.items())


def check_a_device_draws_a_fresh_key_each_time(m: Mechanism) -> None:
    possible = {payload: place for place, payload in enumerate(m.all_payloads())}
    value = m.domain.label(0)
    observed = np.zeros(len(possible))
    for _ in range(60 * len(possible)):
        observed[possible[m.privatize_one(value).payload]] += 1
    expected = observed.sum() * np.array([float(m.probability(payload, value)) for payload in possible])
    assert not chi_square_rejects(observed, expected)


def check_one_value_changes_one_report(m: Mechanism, seed: int) -> None:
    keystream = Keystream.seeded(seed)
    before = np.zeros(300, np.int64)
    after = before.copy()
    after[150] = m.k - 1
    differs = np.flatnonzero(
        [
            payload_key(a) != payload_key(b)
            for a, b in zip(m.payloads(before, keystream), m.payloads(after, keystream), strict=True)
        ]
    )
    assert set(differs.tolist()) <= {150}


def check_encoding_round_trips(m: Mechanism, overhead: int = 0) -> None:
    bits = m.report_bits + settings.PUBLIC_BITS.get(m.name, lambda _: 0)(m)
    seen = set()
    for payload in m.all_payloads():
        data = m.encode(dn.Report(payload, m.fingerprint))
        assert m.decode(data) == dn.Report(payload, m.fingerprint)
        assert len(data) <= -(-bits // 8) + overhead
        seen.add(data)
    assert len(seen) == len(list(m.all_payloads())), "two reports must not share their bytes"
    assert bits >= math.log2(len(seen)) - 1e-9


def check_bytes_decode_or_are_refused(m: Mechanism, data: bytes) -> None:
    try:
        report = m.decode(data)
    except dn.MalformedReport:
        return
    assert report.payload in set(m.all_payloads())
    assert m.encode(report) == data


def check_summary_counts_every_report(m: Mechanism, seed: int) -> None:
    reports = m.privatize(np.random.default_rng(seed).integers(0, m.k, 1000), seed=seed)
    whole = m.summarize(reports)
    one_by_one = sum(m.summarize(reports[i : i + 1]) for i in range(len(reports)))
    assert whole == one_by_one
    assert whole.n == 1000
    if isinstance(getattr(m, "channel", None), PureChannel):
        # a report supports the values under which it is likeliest; one that fits all alike says nothing here
        columns = {y: [m._probability(y, x) for x in range(m.k)] for y in set(map(payload_key, reports.data))}
        telling = [y for y in map(payload_key, reports.data) if len(set(columns[y])) > 1]
        support = m.support_counts(m.summarize(payload_array(m, telling)))
        assert support.tolist() == [sum(columns[y][x] == max(columns[y]) for y in telling) for x in range(m.k)]

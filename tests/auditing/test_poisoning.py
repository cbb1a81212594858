"""False reports: what they gain, and which batches give an alarm."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import deniable as dn
from benchmarks.liars import batch, padded_lies
from deniable.auditing.attacks.detectors import threshold
from deniable.auditing.attacks.pairs import ALARM, pair_test, pairs_of, rarity
from deniable.core.defaults import RATE
from tests.running.figures import Record

# k = 100, epsilon 1: the most for one value, the least, and false reports for one standard error of 10,000
TABLE = {
    "grr": (58.6, -0.58, 10),
    "csr": (3.24, -1.1, 59),
    "pgr": (2.75, -1.3, 70),
    "clh": (3.35, -1.1, 57),
    "ss": (3.13, -1.2, 60),
    "oue": (3.16, -1.2, 61),
    "sue": (2.54, -1.5, 78),
    "the": (2.88, -1.7, 76),
    "hpgr": (6.84, -1.7, 35),
    "she": (32.0, -31.0, 9),
}


@pytest.mark.parametrize("name", TABLE)
def test_the_most_that_a_report_adds(name: str) -> None:
    found = dn.poisoning(dn.mechanism(name, k=100, epsilon=1.0), [0])
    most, least, hidden = TABLE[name]
    assert (found.most, found.least) == pytest.approx((most, least), abs=0.06)
    assert found.hidden == pytest.approx(hidden, abs=1)


@pytest.mark.parametrize(
    ("name", "together"), [("oue", 31.6), ("ss", 31.3), ("sue", 25.4), ("she", 320), ("grr", 53.4)]
)
def test_the_most_for_ten_targets(name: str, together: float) -> None:
    found = dn.poisoning(dn.mechanism(name, k=100, epsilon=1.0), 10, liars=0.01, n=10_000)
    assert found.together == pytest.approx(together, rel=0.003)
    assert found.shift == pytest.approx(0.01 * together, rel=0.003)


def test_what_is_only_a_bound_is_called_one() -> None:
    bound, exact = (dn.poisoning(dn.mechanism(name, k=100, epsilon=1.0), 10) for name in ("mss", "oue"))
    assert "together, add at most 124% to 10 targets" in str(bound)
    assert "together, add 31.6% to 10 targets" in str(exact)


def test_liars_move_an_estimate_by_what_is_said() -> None:
    m = dn.mechanism("csr", k=20, epsilon=1.0)
    targets = [3, 11]
    found = dn.poisoning(m, targets, liars=0.25, n=400)
    scores = m.scores(np.isin(np.arange(20), targets).astype(np.float64))
    honest = m.privatize(np.zeros(300, np.int64), seed=1).data
    lies = np.full(100, int(np.argmax(scores)), honest.dtype)
    both = m.unbiased(m.summarize(np.concatenate([honest, lies])))[targets].sum()
    alone = m.unbiased(m.summarize(honest))[targets].sum()
    assert 400 * both - 300 * alone == pytest.approx(100 * found.together, rel=1e-9)
    assert found.shift == pytest.approx(100 * found.together / 400)


@pytest.mark.parametrize("name", ["oue", "ss"])
def test_few_liars_with_ten_targets_are_seen_and_their_targets_named(name: str) -> None:
    m = dn.mechanism(name, k=128, epsilon=1.0)
    for seed in range(5):
        lies = padded_lies(m, batch(m, 100_000, seed), 0.003, 10)
        found = dn.detect_poisoning(m, lies)
        assert found.alarm
        assert found.targets == tuple(range(118, 128))
        assert [check.name for check in found.tests if check.alarm] == ["pairs of values"]


@pytest.mark.parametrize(
    ("name", "k", "epsilon"),
    [("oue", 32, 1.0), ("ss", 32, 1.0), ("sue", 16, 2.0), ("the", 64, 2.0), ("she", 16, 1.0), ("ss", 10, 0.5)],
)
def test_honest_batches_give_no_alarm(name: str, k: int, epsilon: float) -> None:
    m = dn.mechanism(name, k=k, epsilon=epsilon)
    pairs = pairs_of(m)
    assert pairs is not None
    runs = 40
    found = [pair_test(m, pairs, m.layout.check(batch(m, 4000, seed))).statistic for seed in range(runs)]
    assert max(found) < ALARM
    assert sum(statistic > threshold(RATE) for statistic in found) <= 8  # of 40 at 5%: chance 2e-4 or less


@pytest.mark.soak
@pytest.mark.parametrize("name", ["oue", "ss"])
def test_alarms_in_ten_thousand_honest_batches_are_as_rare_as_promised(name: str, record_property: Record) -> None:
    m = dn.mechanism(name, k=128, epsilon=1.0)
    pairs = pairs_of(m)
    assert pairs is not None
    found = np.array([pair_test(m, pairs, batch(m, 100_000, seed)).statistic for seed in range(10_000)])
    assert (found > ALARM).sum() == 0
    rare = int((found > threshold(0.01)).sum())
    assert rare <= 130
    record_property("figure", f"honest batches of {name}: 10,000, no alarm, {rare} above the threshold of 1%")


def test_a_sum_over_pairs_has_the_mean_zero_and_the_variance_that_is_stated() -> None:
    m = dn.mechanism("ss", k=5, w=2, epsilon=1.0)
    pairs = pairs_of(m)
    assert pairs is not None
    (k0, k1), q, gain = pairs.moments(), float(m.channel.q), float(m.channel.gain)
    moments = {0: [0.0, 0.0], 1: [0.0, 0.0]}
    for sender, kind in ((0, 1), (4, 0)):  # the pair is (0, 1)
        for payload in m.layout.all():
            chance = float(m.probability(payload, sender))
            a, b = (m.supports(payload, value) for value in (0, 1))
            z = (a - q) * (b - q) - k0 - (k1 - k0) * (a + b - 2 * q) / gain
            moments[kind][0] += chance * z
            moments[kind][1] += chance * z * z
    assert [moments[kind][0] for kind in (0, 1)] == pytest.approx([0, 0], abs=1e-14)
    assert (moments[0][1], moments[1][1]) == pytest.approx(pairs.variances(), rel=1e-12)


@pytest.mark.parametrize("name", [name for name in dn.list_mechanisms() if name not in ("design", "matrix")])
def test_every_public_part_is_tested_for_its_law(name: str) -> None:
    m = dn.mechanism(name, k=100, epsilon=1.0)
    honest = np.array(m.privatize(np.arange(4000) % 100, seed=4).data)
    public = m.public_part(honest)
    found = dn.detect_poisoning(m, honest)
    assert not found.alarm
    if public is None or public.max() == 0:
        assert not {"cohort", "public number"} & {check.name for check in found.tests}
        return
    # all liars choose the same public part, and are honest otherwise
    lies = dn.detect_poisoning(m, honest[(public == public[0]) | (np.arange(len(honest)) < 2000)].repeat(2, axis=0))
    assert lies.tests[0].name in ("cohort", "public number", "cohort and coordinate")
    fixed = np.repeat(honest[public == public[0]], 1 + 4000 // int((public == public[0]).sum()), axis=0)
    assert dn.detect_poisoning(m, np.concatenate([honest, fixed])).tests[0].alarm


def test_a_pair_of_cohort_and_coordinate_is_seen_where_neither_alone_is_odd() -> None:
    m = dn.mechanism("hcms", k=20, epsilon=1.0, cohorts=16, buckets=16)
    honest = np.array(m.privatize(np.arange(20_000) % 20, seed=4).data)
    cohorts, coordinates = np.divmod(honest // 2, 15)
    diagonal = honest[(cohorts + coordinates) % 3 == 0]  # each cohort and coordinate is about as frequent as before
    found = {check.name: check.alarm for check in dn.detect_poisoning(m, np.concatenate([honest, diagonal])).tests}
    assert found["cohort and coordinate"]
    assert not found["coordinate"]


@pytest.mark.parametrize("name", ["olh", "clh", "rhr", "orr", "hcms", "orappor", "mss", "oue", "she"])
def test_parts_with_a_known_law_are_tested(name: str) -> None:
    m = dn.mechanism(name, k=64, epsilon=1.0)
    honest = m.privatize(np.arange(3000) % 64, seed=4)
    assert not dn.detect_poisoning(m, honest).alarm
    lies = np.array(honest.data)
    lies[:600] = lies[0]  # one report, sent again and again
    found = dn.detect_poisoning(m, lies)
    assert found.alarm
    assert "ALARM" in str(found)


def test_what_cannot_be_seen_is_said() -> None:
    m = dn.mechanism("grr", k=10, epsilon=1.0)
    found = dn.detect_poisoning(m, np.full(500, 3))
    assert not found.alarm
    assert found.tests == ()
    assert len(found.skipped) == 2
    assert any("one value alone" in text for text in found.blind)


def test_levels_and_thresholds_agree() -> None:
    for level in (0.05, 0.01, 1e-3):
        assert rarity(threshold(level)) <= level
    assert threshold(1e-6) == ALARM
    assert threshold(0.01) == pytest.approx(2.02, abs=0.02)  # the 99th percentile of Tracy and Widom's law
    assert threshold(0.05) == pytest.approx(0.98, abs=0.02)


@pytest.mark.parametrize(
    ("targets", "options", "message"),
    [
        ("abc", {}, "targets must be a list of values"),
        ([7], {}, "label must be one of the 3 labels"),
        ([], {}, "targets must name at least one value"),
        (4, {}, "targets must be a whole number from 1 to 3"),
        (1, {"liars": 0}, "liars must lie strictly between 0 and 1"),
        (1, {"n": 0}, "n must be a whole number"),
    ],
)
def test_wrong_questions_are_answered_clearly(targets: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(dn.InvalidArgument, match=message):
        dn.poisoning(dn.mechanism("grr", k=3, epsilon=1.0), targets, **options)


def test_a_batch_of_nothing_is_refused() -> None:
    m = dn.mechanism("oue", k=10, epsilon=1.0)
    with pytest.raises(dn.EmptySummary):
        dn.detect_poisoning(m, m.privatize([]))
    assert dn.detect_poisoning(m, m.privatize([3], seed=1)).n == 1

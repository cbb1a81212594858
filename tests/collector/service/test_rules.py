"""The rules one by one: rates, issued ids, time, forms of time, what is published, settings, counters."""

from __future__ import annotations

import pytest

import deniable as dn
from deniable.collector.service.answers.cache import AROUND, Cache
from deniable.collector.service.answers.selection import hour_of
from deniable.collector.service.clock import Clock
from deniable.collector.service.counting import counted
from deniable.collector.service.issued import issue, secret_of, were_issued
from deniable.collector.service.outcomes import Outcomes
from deniable.collector.service.questions import Workshop
from deniable.collector.service.rates import Allowance
from deniable.collector.service.settings import SegmentSettings, Settings, changed, check, read_settings, write_settings
from deniable.wire.refusals import Refused

M = dn.mechanism("grr", labels=["a", "b"], epsilon=1.0)


class Seconds:
    """A clock that is set by hand."""

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def test_an_allowance_refills_with_time_and_says_how_long_to_wait() -> None:
    clock = Seconds()
    allowance = Allowance(requests=10.0, reports=1000.0, clock=clock)
    for _ in range(20):
        allowance.take(1)
    with pytest.raises(Refused) as refused:
        allowance.take(1)
    assert refused.value.kind == "rate"
    assert refused.value.retry_after == pytest.approx(0.1)
    clock.now += 0.1
    allowance.take(1)


def test_a_batch_larger_than_the_rate_passes_and_is_paid_for_later() -> None:
    clock = Seconds()
    allowance = Allowance(requests=10.0, reports=100.0, clock=clock)
    allowance.take(1000)
    with pytest.raises(Refused) as refused:
        allowance.take(1)
    assert refused.value.retry_after == pytest.approx(8.01)
    clock.now += 8.02
    allowance.take(1)


def test_issued_ids_are_good_for_their_bucket_and_collection_alone() -> None:
    secret = secret_of(b"signer")
    ids = issue(secret, 24, 100)
    assert len(set(ids)) == 100
    assert {len(each) for each in ids} == {16}
    assert were_issued(secret, 24, ids)
    assert not were_issued(secret, 48, ids[:1])
    assert not were_issued(secret_of(b"another"), 24, ids[:1])
    assert not were_issued(secret, 24, [ids[0], ids[1][:8] + ids[2][8:]])


def test_the_clock_never_goes_back() -> None:
    source = Seconds(7200.0)
    clock = Clock(source)
    assert clock.hour() == 2
    source.now = 0.0
    assert clock.seconds() == 7200.0
    clock.at_least(36_000.0)
    assert clock.hour() == 10
    source.now = 40_000.0
    assert clock.seconds() == 40_000.0


def test_a_leap_of_the_clock_is_not_believed_until_somebody_accepts_it() -> None:
    source, steady = Seconds(1e9), Seconds(0.0)
    clock = Clock(source, steady)
    assert (clock.seconds(), clock.ahead) == (1e9, 0.0)
    source.now, steady.now = 1e9 + 80_000, 10.0  # the machine slept
    assert (clock.seconds(), clock.ahead) == (1e9 + 80_000, 0.0)
    source.now, steady.now = 2e9, 110.0
    assert clock.seconds() == 1e9 + 80_100
    assert clock.ahead == pytest.approx(1e9 - 80_100)
    steady.now = 210.0
    assert clock.seconds() == 1e9 + 80_200
    source.now = 1e9 + 80_250  # set right
    assert (clock.seconds(), clock.ahead) == (1e9 + 80_250, 0.0)
    for off, accept, believed in ((6, False, True), (8, False, False), (1_000, True, True)):
        started = Clock(Seconds(1e9 + 86_400 * off), steady, accept=accept)
        started.at_least(1e9)
        assert (started.seconds() > 1e9, started.ahead == 0.0) == (believed, believed)


@pytest.mark.parametrize(
    ("text", "hour"),
    [("2026-03-30", 493_008), ("2026-03-30T13:00Z", 493_021), ("2026-03-30T13:59+02:00", 493_019), ("493008", 493_008)],
)
def test_a_time_is_written_in_one_of_three_ways(text: str, hour: int) -> None:
    assert hour_of(text) == hour


@pytest.mark.parametrize("text", ["today", "", "-1", "1969-12-31", "9" * 11, "2026-13-01"])
def test_other_times_are_refused(text: str) -> None:
    with pytest.raises(Refused, match="a time must be"):
        hour_of(text)


@pytest.mark.parametrize("number", ["2026", "20261119", 2026, 20_261_119])
def test_a_year_or_a_date_in_digits_is_not_taken_for_hours(number: int | str) -> None:
    with pytest.raises(Refused, match=r"a date such as .*, or hours since 1970, got .*20260131 as 2026-01-31"):
        hour_of(number)


def test_what_is_published_advances_by_the_minimum() -> None:
    part = dn.Summary([6, 4], 10, M.fingerprint)  # type: ignore[arg-type]
    first = counted(10, None, None, part)
    assert (first.n, first.publish) == (10, True)
    few = dn.Summary([9, 0], 9, M.fingerprint)  # type: ignore[arg-type]
    second = counted(10, first.summary, first.summary, few)
    assert (second.n, second.publish) == (19, False)
    third = counted(10, second.summary, first.summary, dn.Summary([0, 1], 1, M.fingerprint))  # type: ignore[arg-type]
    assert (third.n, third.publish) == (20, True)


def test_settings_survive_the_store_and_keep_what_counts_depend_on() -> None:
    settings = Settings(minimum=5, bucket="hour", origins=("https://example.org",))
    assert read_settings(write_settings(settings)) == settings
    assert changed(settings, {"minimum": 7}).minimum == 7
    for wrong, kind in (
        ({"bucket": "day"}, "conflict"),
        ({"minimum": 0}, "bad-argument"),
        ({"other": 1}, "bad-argument"),
    ):
        with pytest.raises(Refused) as refused:
            changed(settings, wrong)
        assert refused.value.kind == kind
    good = (
        "*",
        "https://a-b.example.org",
        "http://localhost:8000",
        "http://[::1]:8080",
        "http://127.0.0.1",
        "http://a_b",
    )
    check(Settings(origins=good))
    with pytest.raises(dn.InvalidArgument, match="without a path"):
        check(Settings(origins=("https://example.org/page",)))
    with pytest.raises(dn.InvalidArgument, match=r"retention_days must be null without buckets of time, got 1\. Only"):
        check(Settings(bucket="none", retention_days=1))
    with pytest.raises(dn.InvalidArgument, match="retention_days"):
        changed(Settings(bucket="none"), {"retention_days": 1})
    for broken in ({"minimum": 0}, {"window_hours": 1}, {"segments": (SegmentSettings(name="a b", labels=("c",)),)}):
        with pytest.raises(Refused, match="settings: Expected"):
            check(Settings(**broken))  # type: ignore[arg-type]
    assert Settings(bucket="week", window_hours=2).window == 336


def test_a_spec_that_costs_too_much_is_refused_before_it_is_built() -> None:
    workshop = Workshop(dn.Limits(cells=10))
    assert workshop.build(M.spec.to_dict()) is workshop.build(M.spec.to_json())
    with pytest.raises(Refused, match="above the limit cells=10") as refused:
        workshop.build(dn.mechanism("grr", k=11, epsilon=1.0).spec.to_dict())
    assert refused.value.kind == "bad-spec"
    with pytest.raises(Refused, match="canonical JSON"):
        Workshop().build({"deniable": 2**60})


def test_the_cache_keeps_what_was_used_last_within_its_size() -> None:
    cache = Cache(most=10 + 2 * AROUND)
    for key in (b"a", b"b", b"a", b"c"):
        assert cache.get(key, lambda key=key: 4 * key) == 4 * key  # type: ignore[misc]
    assert (cache.hits, cache.misses) == (1, 3)
    assert cache.get(b"a", lambda: b"made anew") == b"aaaa"
    assert cache.get(b"b", lambda: b"made anew") == b"made anew"


def test_outcomes_add_up_and_refusals_are_handed_over_once() -> None:
    outcomes = Outcomes()
    outcomes.add("POST /v1/reports", "ok", 50, 1)
    outcomes.add("POST /v1/reports", "rate", 50, 1)
    outcomes.add("other", "not-found", 50)
    assert outcomes.requests == sum(outcomes.counts().values()) == 3
    assert outcomes.refusals(1) == {(48, "rate"): 1}
    assert outcomes.unsaved() == {(1, 48, "rate"): 1, (0, 48, "not-found"): 1}
    assert outcomes.unsaved() == {}


def test_segments_of_too_many_combinations_are_refused() -> None:
    def settings(*sizes: int) -> Settings:
        labels = [tuple(f"{label}" for label in range(size)) for size in sizes]
        return Settings(segments=tuple(SegmentSettings(f"s{i}", each) for i, each in enumerate(labels)))

    check(settings(100, 100))
    with pytest.raises(dn.InvalidArgument, match=r"at most 10,000 combinations .* got 10100"):
        check(settings(100, 101))

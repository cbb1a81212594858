"""Open domains: every mistake has a clear line."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import deniable as dn
from deniable.mechanisms.forecasts.built import NO_FORMULA
from deniable.mechanisms.registry import registered
from tests.mechanisms.cohorts.strings import of


@pytest.fixture(scope="module")
def answered() -> tuple[Any, dn.Summary]:
    m = of(cohorts=64, buckets=32, candidates=100)
    return m, m.summarize(m.privatize(["a", "b"] * 500, seed=1))


@pytest.mark.parametrize(
    ("candidates", "says"),
    [
        (None, "An open domain lists no values"),
        ([], r"candidates must not be empty, got \[\]. List the strings to look for"),
        (["a", "b", "a"], r"candidates must be distinct .*dict.fromkeys.* to drop repeats"),
        (["a", b"a"], "candidates must be distinct"),
        (["a", "(unlisted)"], r'candidates must be distinct and not "\(unlisted\)"'),
        (["a", 3], "candidates must be a string, or bytes, of at most 256 bytes, got 3"),
        (["a", None], "candidates must be a string"),
        (["x" * 257], "candidates must be a string, or bytes, of at most 256 bytes"),
        ([b"\xff"], "candidates must be text, or text in UTF-8"),
        ("abc", "candidates must be a list of strings"),
        (5, "candidates must be a list of strings"),
    ],
    ids=str,
)
def test_candidates_that_cannot_be_decoded_are_refused(answered: Any, candidates: Any, says: str) -> None:
    m, summary = answered
    with pytest.raises(dn.InvalidArgument, match=says) as caught:
        m.estimate(summary, candidates=candidates)
    assert "\n" not in str(caught.value)


def test_one_candidate_alone_cannot_be_complete(answered: Any) -> None:
    m, summary = answered
    assert m.estimate(summary, candidates=["a"]).domain.all_labels() == ["a", "(unlisted)"]
    with pytest.raises(dn.InvalidArgument, match="two strings or more"):
        m.estimate(summary, candidates=["a"], complete=True)


@pytest.mark.parametrize("method", ["least-squares", "projected", "nonnegative", "mle"])
def test_more_candidates_than_equations_are_for_other_methods(answered: Any, method: str) -> None:
    m, summary = answered
    many = [str(number) for number in range(2100)]
    with pytest.raises(
        dn.InvalidArgument,
        match=r"one of selected, per-candidate.* Least squares cannot tell 2100 candidates apart .*at most 1984",
    ):
        m.estimate(summary, method, candidates=many)
    assert m.estimate(summary, candidates=many).method == "selected"


def test_an_unknown_method_or_target_is_refused(answered: Any) -> None:
    m, summary = answered
    with pytest.raises(dn.InvalidArgument, match="method must be one of projected, nonnegative, least-squares"):
        m.estimate(summary, "unbiased", candidates=["a"])
    with pytest.raises(dn.InvalidArgument, match="target must be one of users, population"):
        m.estimate(summary, candidates=["a"], target="everybody")
    with pytest.raises(dn.EmptySummary):
        m.estimate(m.empty_summary(), candidates=["a"])
    with pytest.raises(dn.FingerprintMismatch):
        of(seed=9).estimate(summary, candidates=["a"])


def test_candidates_of_a_closed_domain_are_refused() -> None:
    closed = dn.mechanism("orr", k=5, epsilon=1.0)
    with pytest.raises(dn.InvalidArgument, match="This domain lists its values"):
        closed.estimate(dn.simulate(closed, [5] * 5), candidates=["a"])
    with pytest.raises(dn.InvalidArgument, match="candidates must be omitted"):
        dn.simulate(closed, [5] * 5, candidates=["a"] * 5)


def test_strings_that_share_all_their_buckets_are_named() -> None:
    m = of(cohorts=4, buckets=3, candidates=1)
    buckets: dict[tuple[int, ...], str] = {}
    for number in range(1000):
        text = str(number)
        own = tuple(m.functions.bucket(m.domain.index(text), cohort) for cohort in range(4))
        if own in buckets:
            break
        buckets[own] = text
    summary = m.summarize(m.privatize([text] * 200, seed=2))
    with pytest.warns(
        dn.DesignWarning, match=f"share all their buckets .* such as '{buckets[own]}' and '{text}'\\. Drop"
    ):
        estimate = m.estimate(summary, candidates=[buckets[own], text], method="per-candidate")
    assert estimate.frequencies[0] == estimate.frequencies[1]


def test_a_design_that_least_squares_cannot_use_is_warned_of_once() -> None:
    with pytest.warns(dn.DesignWarning, match="Use 286 cohorts, decode with fewer candidates, or decode by selection"):
        m = dn.mechanism("orr", domain=dn.Domain.open(), epsilon=1.0, cohorts=8, buckets=8, candidates=1000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert dn.from_spec(m.spec) == m
    with pytest.warns(dn.DesignWarning):
        dn.mechanism("orr", domain=dn.Domain.open(), epsilon=1.0, cohorts=8, buckets=8, candidates=1000)


def test_too_few_cohorts_for_the_candidates_are_refused() -> None:
    with pytest.raises(dn.InvalidArgument, match="cohorts must be at least 8 for 1024 values in 8 buckets"):
        dn.mechanism("orr", domain=dn.Domain.open(), epsilon=1.0, cohorts=2, buckets=8)


def test_more_candidates_than_any_design_can_have_are_refused() -> None:
    with pytest.raises(dn.InvalidArgument, match="No design of up to 4,194,304 cells has enough equations"):
        dn.mechanism("orr", domain=dn.Domain.open(), epsilon=1.0, candidates=10**9)
    with pytest.raises(dn.InvalidArgument, match="candidates must be fewer for cohorts=4"):
        dn.mechanism("orr", domain=dn.Domain.open(), epsilon=1.0, candidates=10**9, cohorts=4)


def test_more_candidates_than_memory_has_room_for_are_refused_at_once() -> None:
    m = dn.mechanism("orr", domain=dn.Domain.open(), epsilon=1.0, cohorts=2**16, buckets=4)
    summary = m.summarize(m.privatize(["a"]))
    with pytest.raises(dn.InvalidArgument, match="values must be at most 65,536 with 65536 cohorts") as caught:
        m.estimate(summary, candidates=map(str, range(2**16 + 1)))
    assert "Use fewer values at a time, or fewer cohorts" in str(caught.value)


def test_mechanisms_for_closed_domains_refuse_open_ones() -> None:
    for name in dn.list_mechanisms():
        if name in NO_FORMULA or registered(name)[0].open_domains:
            continue
        with pytest.raises(dn.InvalidArgument, match=r"domain must be closed|open one lists no values"):
            dn.mechanism(name, domain=dn.Domain.open(), epsilon=1.0)


@pytest.mark.parametrize(
    "question",
    [
        lambda m: m.k,
        lambda m: m.domain.label(0),
        lambda m: m.domain.all_labels(),
        lambda m: m.variance(),
        lambda m: m.noise("users"),
        lambda m: m.reconstruction_rate(),
        lambda m: m.unbiased(m.empty_summary()),
        lambda m: dn.users_needed(m, margin=0.01),
        lambda m: dn.users_needed(m, detect=0.01, simultaneous=True),
    ],
)
def test_what_needs_a_list_of_values_says_so(question: Any) -> None:
    with pytest.raises(dn.InvalidArgument, match="domain must be closed here") as caught:
        question(of())
    assert "\n" not in str(caught.value)


def test_comparing_mechanisms_is_about_closed_domains() -> None:
    with pytest.raises(dn.InvalidArgument, match="k must be a whole number"):
        dn.compare(dn.Domain.open(), 1.0)  # type: ignore[arg-type]

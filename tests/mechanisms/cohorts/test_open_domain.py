"""Open domains: any string is a value, the contract holds on samples of strings, and every mistake has a clear line."""

from __future__ import annotations

import itertools
import json
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import deniable as dn
from deniable.core.domain.open import Open
from deniable.mechanisms.registry import registered
from deniable.randomness.bounds import exponential_below
from deniable.randomness.choices import Choices
from deniable.randomness.keystream import Keystream
from tests.contract import checks as contract

STRINGS = ["", "a", "A", "example.org", "naïve", "漢字", "🦜", "e\u0301", "\u00e9", "x" * 256]


def of(name: str = "orr", **changes: Any) -> Any:
    settings = {"cohorts": 8, "buckets": 5, "candidates": 8, **changes}
    domain = settings.pop("domain", dn.Domain.open())
    return dn.mechanism(name, domain=domain, epsilon=settings.pop("epsilon", 1.5), **settings)


# The contract on strings ---------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [1e-6, 0.5, 1.0, 3.0, 20.0])
def test_the_channel_sums_to_one_and_stays_within_epsilon(epsilon: float) -> None:
    m = of(epsilon=epsilon)
    largest = 0
    for payload in m.layout.all():
        column = [m.probability(payload, value) for value in STRINGS]
        largest = max(largest, max(column) / min(column))
    assert all(sum(m.probability(payload, value) for payload in m.layout.all()) == 1 for value in STRINGS)
    assert largest == m.guarantee().ratio <= exponential_below(epsilon)


@pytest.mark.parametrize("value", ["", "example.org", "漢字"])
def test_all_words_give_the_channel_by_kernel_and_plain_path(value: str) -> None:
    m, bits = of(cohorts=5, buckets=3, candidates=1), 4
    small = contract.coarse(m, bits)
    words = contract.every_word(m, bits)
    index = m.domain.index(value)
    out = small.layout.empty(len(words))
    again = set(small.randomize(np.full(len(words), index, np.int64), words.reshape(-1), out).tolist())
    accepted = np.delete(out, list(again))
    assert 0 < len(accepted) < len(words)
    contract.matches_channel(small, value, contract.tally(accepted), len(accepted))
    for place, row in enumerate(words.tolist()):
        found = small.randomize_one(index, Choices(row, itertools.repeat(2**64 - 1)))
        assert place in again or found == out[place], "both paths must agree wherever no draw is rejected"


def test_a_batch_equals_one_by_one() -> None:
    m, keystream = of(), Keystream.seeded(3)
    indices = m.domain.indices(STRINGS * 30)
    batch, stream = m.payloads(indices, keystream), keystream.stream(0)
    for i, index in enumerate(indices.tolist()):
        words = stream.words(m.stride).tolist()
        assert int(batch[i]) == m.randomize_one(index, Choices(words, keystream.overflow(i)))


def test_reports_survive_their_bytes_and_the_spec_its_json() -> None:
    m = of(domain=dn.Domain.open(max_bytes=300, key="clé", other=True, no_answer="none"))
    again = dn.from_spec(m.spec.to_json())
    assert again == m
    assert again.fingerprint == m.fingerprint
    for value in [*STRINGS, None, 3]:
        report = m.privatize_one(value)
        assert again.decode(m.encode(report)) == report
    assert json.loads(m.spec.to_json())["domain"] == {
        "kind": "open",
        "key": "clé",
        "max_bytes": 300,
        "other": "(other)",
        "no_answer": "none",
    }


def test_specs_differ_where_hashes_do() -> None:
    specs = [
        of(),
        of(seed=1),
        of(domain=dn.Domain.open(key="a")),
        of(domain=dn.Domain.open(max_bytes=9)),
        of(cohorts=9),
    ]
    assert len({m.fingerprint for m in specs}) == len(specs)
    assert dn.Domain.open(key="a").index("x") != dn.Domain.open(key="b").index("x")


# Values --------------------------------------------------------------------------------------------


def containers() -> dict[str, Any]:
    values = ["a", "naïve", "", "a", "漢字"]
    found: dict[str, Any] = {
        "list": values,
        "tuple": tuple(values),
        "generator": (value for value in values),
        "bytes": [value.encode() for value in values],
        "both": ["a", "naïve".encode(), "", b"a", "漢字"],
        "numpy": np.array(values),
        "numpy objects": np.array(values, object),
        "arrow": pa.array(values),
        "arrow chunks": pa.chunked_array([values[:2], values[2:]]),
        "arrow large": pa.array(values, pa.large_string()),
        "arrow view": pa.array(values, pa.string_view()),
        "arrow dictionary": pa.array(values).dictionary_encode(),
        "arrow binary": pa.array([value.encode() for value in values], pa.binary()),
        "arrow large binary": pa.array([value.encode() for value in values], pa.large_binary()),
    }
    encoded = [value.encode() for value in values]
    found |= {"pandas": pd.Series(values), "pandas binary": pd.Series(encoded)}
    return found | {"stream": Stream(values), "stream binary": Stream(encoded)}


class Stream:
    """A column that is known by its Arrow stream only, as polars offers it."""

    def __init__(self, values: list[Any]) -> None:
        self.column = pa.chunked_array([values])

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.column.__arrow_c_stream__(requested_schema)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.column.to_pylist())

    def __len__(self) -> int:
        return len(self.column)


@pytest.mark.parametrize("name", list(containers()))
def test_any_container_of_strings_or_bytes_is_read(name: str) -> None:
    domain = dn.Domain.open()
    wanted = [domain.index(value) for value in ("a", "naïve", "", "a", "漢字")]
    assert domain.indices(containers()[name]).tolist() == wanted


def test_numpy_bytes_are_read_like_others() -> None:
    domain = dn.Domain.open()
    assert domain.indices(np.array([b"a", b"bc"])).tolist() == [domain.index("a"), domain.index("bc")]


BAD = [3, 1.5, True, "x" * 257, b"x" * 257, "\ud800", ("a",), bytearray(b"a"), object()]


@pytest.mark.parametrize("value", BAD, ids=lambda value: type(value).__name__)
def test_what_is_no_string_or_too_long_is_refused_or_other(value: object) -> None:
    plain, tolerant = dn.Domain.open(), dn.Domain.open(other=True)
    with pytest.raises(dn.ValueOutsideDomain, match=r'of at most 256 bytes, got .*The domain has no "other" category'):
        plain.index(value)
    with pytest.raises(dn.ValueOutsideDomain, match="position 1 must be a string, or bytes, of at most 256 bytes"):
        plain.indices(["a", value])
    assert tolerant.index(value) == tolerant.index("(other)")
    assert tolerant.indices(["a", value])[1] == tolerant.index("(other)")


def test_lengths_count_bytes_not_characters() -> None:
    domain = dn.Domain.open(max_bytes=4)
    assert domain.index("🦜") == domain.index("🦜".encode())
    with pytest.raises(dn.ValueOutsideDomain):
        domain.index("🦜!")


@pytest.mark.parametrize("value", [None, float("nan"), np.nan], ids=str)
def test_missing_values_are_refused_or_no_answer(value: object) -> None:
    plain, tolerant = dn.Domain.open(), dn.Domain.open(no_answer=True)
    with pytest.raises(dn.ValueOutsideDomain, match="no answer"):
        plain.index(value)
    with pytest.raises(dn.ValueOutsideDomain, match="position 2"):
        plain.indices(["a", "b", value])
    assert tolerant.index(value) == tolerant.index("(no answer)")
    assert tolerant.indices(["a", value])[1] == tolerant.index("(no answer)")
    assert tolerant.indices(pa.array(["a", None]))[1] == tolerant.index("(no answer)")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"max_bytes": 0}, "max_bytes must be a whole number from 1 to 65536"),
        ({"max_bytes": 65537}, "max_bytes must"),
        ({"key": "x" * 33}, "key must have at most 32 bytes"),
        ({"key": b"x"}, "key must be a string"),
        ({"other": "x", "no_answer": "x"}, "no_answer must differ from other"),
        ({"max_bytes": 2, "other": "rest"}, "other must have at most 2 bytes"),
    ],
    ids=str,
)
def test_domains_that_do_not_exist_are_refused(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(dn.InvalidArgument, match=says):
        dn.Domain.open(**arguments)


# Mistakes ------------------------------------------------------------------------------------------


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
        if name == "design" or registered(name)[0].open_domains:
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


# Simulation ----------------------------------------------------------------------------------------


def test_simulated_strings_follow_the_channel() -> None:
    m, n = of(), 400_000
    for value in STRINGS[:4]:
        summary = dn.simulate(m, [n], candidates=[value], seed=4)
        chances = np.array([float(m.probability(payload, value)) for payload in m.layout.all()])
        assert summary.simulated
        assert summary.n == n
        assert (np.abs(summary.counts - n * chances) <= 6.2 * np.sqrt(n * chances * (1 - chances))).all()


def test_few_simulated_users_of_many_strings_follow_the_channel() -> None:
    m = of()
    strings = [str(number) for number in range(3000)]
    summary = dn.simulate(m, np.ones(3000, np.int64), candidates=strings, seed=4)
    chances = np.zeros(m.symbols)
    for text in strings:
        own = [cohort * m.buckets + m.functions.bucket(m.domain.index(text), cohort) for cohort in range(m.cohorts)]
        chances[own] += float(m.gain) / m.cohorts
    chances = chances / 3000 + float(m.two_level.low)
    assert (np.abs(summary.counts - 3000 * chances) <= 6.5 * np.sqrt(3000 * chances)).all()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({}, "candidates must be given"),
        ({"candidates": ["a"]}, "counts must be 1 whole numbers"),
        ({"candidates": "ab"}, "candidates must be a list of strings"),
        ({"candidates": ["a", 3]}, "value at position 1 must be a string"),
    ],
    ids=str,
)
def test_simulations_without_strings_for_their_counts_are_refused(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(dn.InvalidArgument, match=says):
        dn.simulate(of(), [1, 2], **arguments)


def test_catch_all_categories_are_always_looked_for() -> None:
    m = of(domain=dn.Domain.open(other=True, no_answer=True), cohorts=64, buckets=16, candidates=20, epsilon=4.0)
    assert isinstance(m.domain, Open)
    summary = m.summarize(m.privatize(["a", None, 5, 6] * 5000, seed=8))
    estimate = m.estimate(summary, candidates=["a"])
    assert estimate.domain.all_labels() == ["a", "(other)", "(no answer)", "(unlisted)"]
    low, high = estimate.interval(0.9999)
    assert ((low <= [0.25, 0.5, 0.25, 0]) & (high >= [0.25, 0.5, 0.25, 0])).all()

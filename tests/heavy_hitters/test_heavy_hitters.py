"""Heavy hitters: sequences, the exact channel of a user, files, and what a search promises, measured."""

from __future__ import annotations

import hashlib
import itertools
import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deniable as dn
from deniable.heavy_hitters.groups import uniform_levels
from deniable.heavy_hitters.selection import found_from, given_selection
from deniable.heavy_hitters.strings import CUT, END, Alphabet, pending, sequence
from deniable.mechanisms.registry import open_mechanisms
from deniable.randomness.choices import Choices
from deniable.randomness.keystream import Keystream

LETTERS = "abcdefgh"


def is_whole(beginning: bytes) -> bool:
    return beginning[-1] in (CUT, END)


def words(count: int, longest: int) -> list[str]:
    rng = np.random.default_rng(5)
    found: dict[str, None] = {}
    while len(found) < count:
        found["".join(rng.choice(list(LETTERS), rng.integers(1, longest + 1)))] = None
    return list(found)


def zipf(users: int, count: int = 300, longest: int = 7) -> dict[str, int]:
    weights = 1 / np.arange(1, count + 1) ** 1.1
    return dict(zip(words(count, longest), np.round(users * weights / weights.sum()).astype(int).tolist(), strict=True))


@pytest.fixture(scope="module")
def hh() -> dn.HeavyHitters:
    return dn.HeavyHitters.new(epsilon=4.0, alphabet=LETTERS, max_bytes=6, lengths=(3, 5, 7), cohorts=64)


# Strings -------------------------------------------------------------------------------------------


@given(st.text(), st.integers(1, 20))
def test_a_sequence_is_whole_characters_and_one_last_byte(text: str, max_bytes: int) -> None:
    found = sequence(text.encode(), max_bytes)
    assert len(found) <= max_bytes + 1
    assert text.startswith(found[:-1].decode())
    assert (found[-1] == END) == (len(text.encode()) <= max_bytes)
    assert found[-1] in (END, CUT)
    if found[-1] == CUT:  # one more character would not have fitted
        assert len(text[: len(found[:-1].decode()) + 1].encode()) > max_bytes


@given(st.lists(st.text(max_size=6), min_size=2, max_size=6, unique=True), st.integers(1, 8))
def test_no_sequence_begins_another(texts: list[str], max_bytes: int) -> None:
    found = sorted({sequence(text.encode(), max_bytes) for text in texts})
    assert not any(later.startswith(earlier) for earlier, later in itertools.pairwise(found))


@given(st.text(alphabet=st.characters(exclude_categories=("Cc", "Cs")), max_size=8), st.integers(1, 6))
def test_every_text_is_among_the_extensions_of_its_beginnings(text: str, max_bytes: int) -> None:
    found, alphabet = sequence(text.encode(), max_bytes), Alphabet("".join(sorted(set(text))) or "x")
    for start, stop in itertools.pairwise((0, 1, 2, 4, max_bytes + 1) if max_bytes > 4 else (0, max_bytes + 1)):
        beginning = found[:start]
        if beginning and is_whole(beginning):
            return
        ended, going = alphabet.extensions(start, pending(beginning), stop, max_bytes)
        assert found[start:stop] in (ended if is_whole(found[:stop]) else going)


def test_extensions_are_distinct_counted_and_of_valid_text() -> None:
    for alphabet in (Alphabet("ab"), Alphabet("aé€😀"), Alphabet()):
        ended, going = alphabet.extensions(0, b"", 2, 5)
        both = ended + going
        assert len(set(both)) == len(both) == alphabet.count(0, 2, 5)
        assert all(is_whole(text) and text[:-1].decode().isprintable() for text in ended)
        assert not any(map(is_whole, going))
    both = Alphabet().extensions(0, b"", 2, 5)[1]
    assert {text[:2] for text in (character.encode() for character in "aé€😀߿ࠀ퟿") if len(text) > 1} <= set(both)


def test_default_lengths_are_few_and_fit_the_budget() -> None:
    assert dn.HeavyHitters.new(epsilon=1.0).lengths == (3, 5, 7, 9, 11, 13)
    letters = dn.HeavyHitters.new(epsilon=1.0, alphabet="abcdefghijklmnopqrstuvwxyz", max_bytes=12)
    assert letters.lengths == (4, 7, 10, 13)
    assert Alphabet("01").default_lengths(16, 2**20) == (17,)
    assert Alphabet().default_lengths(1, 10) == (1, 2)


# The document and the channel ----------------------------------------------------------------------


def test_the_document_survives_json_and_ties_reports_to_itself(hh: dn.HeavyHitters) -> None:
    again = dn.HeavyHitters.from_json(hh.to_json())
    assert again == hh
    assert hash(again) == hash(hh)
    assert again.fingerprint == hh.fingerprint
    assert again.levels == hh.levels
    other = dn.HeavyHitters.new(epsilon=4.0, alphabet=LETTERS, max_bytes=6, lengths=(3, 5, 7), cohorts=64, key="other")
    assert other != hh
    with pytest.raises(dn.FingerprintMismatch):
        other.summarize(hh.privatize(["a"]))
    with pytest.raises(dn.FingerprintMismatch):
        other.find(hh.empty_summary())
    with pytest.raises(dn.FingerprintMismatch):
        _ = other.empty_summary() + hh.empty_summary()


def test_levels_hash_in_different_ways(hh: dn.HeavyHitters) -> None:
    first, second, _ = hh.levels
    assert [first.functions.bucket(99, cohort) for cohort in range(20)] != [
        second.functions.bucket(99, cohort) for cohort in range(20)
    ]


def test_the_whole_channel_of_a_user_keeps_its_promise_exactly() -> None:
    small = dn.HeavyHitters.new(
        epsilon=1.0, alphabet="ab", max_bytes=2, lengths=(1, 3), cohorts=8, buckets=3, candidates=2
    )
    values = ["", "a", "b", "ab", "ba", "abba"]
    count, largest = len(small.levels), Fraction(0)
    for level, length in zip(small.levels, small.lengths, strict=True):
        for payload in level.layout.all():
            # Pr[level and report | value], the level being uniform
            chances = [level.probability(payload, sequence(v.encode(), 2)[:length]) / count for v in values]
            largest = max(largest, max(chances) / min(chances))
    assert largest == small.guarantee().ratio
    assert small.guarantee().ratio == max(level.guarantee().ratio for level in small.levels)
    assert small.guarantee().epsilon <= 1.0
    for value in values:
        total = sum(
            level.probability(payload, sequence(value.encode(), 2)[:length]) / count
            for level, length in zip(small.levels, small.lengths, strict=True)
            for payload in level.layout.all()
        )
        assert total == 1


@pytest.mark.parametrize("count", [1, 2, 3, 7, 64])
def test_levels_of_a_batch_are_those_of_one_by_one_also_when_words_are_rejected(count: int) -> None:
    keystream = Keystream.seeded(1)
    few = np.array([0, 1, 2, 2**63, 2**64 - 1, 2**64 // 3, 2**64 // 7 + 1], np.uint64)
    drawn = np.concatenate([few, keystream.stream(9).words(200)])
    found = uniform_levels(count, drawn, keystream)
    expected = [Choices([word], keystream.overflow(i)).below(count) for i, word in enumerate(drawn.tolist())]
    assert found.tolist() == expected


def test_reports_of_a_level_are_its_mechanisms() -> None:
    """Chi-square at alpha 1e-9 of the reports of one value against the exact channel, level included."""
    from scipy.stats import chi2

    n, small = (
        60_000,
        dn.HeavyHitters.new(
            epsilon=1.0, alphabet="ab", max_bytes=2, lengths=(1, 3), cohorts=8, buckets=3, candidates=2
        ),
    )
    made = small.privatize(["ab"] * n, seed=4)
    cells = list(itertools.product(range(2), small.levels[0].layout.all()))
    seen = Counter(zip(made.levels.tolist(), made.reports.data.tolist(), strict=True))

    def distance(value: bytes) -> float:
        lengths = small.lengths
        chances = [float(small.levels[g].probability(p, sequence(value, 2)[: lengths[g]])) / 2 for g, p in cells]
        return sum((seen[cell] - n * p) ** 2 / (n * p) for cell, p in zip(cells, chances, strict=True))

    limit = chi2.isf(1e-9, len(cells) - 1)
    assert distance(b"ab") < limit
    assert distance(b"ba") > limit  # the test can tell a wrong value


def test_one_person_and_a_batch_are_counted_alike(hh: dn.HeavyHitters) -> None:
    pairs = [hh.privatize_one("abc") for _ in range(30)]
    assert {level for level, _ in pairs} <= {0, 1, 2}
    assert all(report.fingerprint == hh.levels[level].fingerprint for level, report in pairs)
    summary = hh.summarize(pairs)
    assert summary.n == 30
    assert not summary.simulated
    assert [part.n for part in summary.levels] == [sum(level == g for level, _ in pairs) for g in range(3)]


def test_reports_and_summaries_survive_their_files(hh: dn.HeavyHitters) -> None:
    first, second = hh.privatize(words(50, 9), seed=1), hh.privatize(["abc", b"abc", "ü"] * 60, seed=2)
    again = dn.HitterReports.from_arrow(first.to_arrow())
    assert again.reports == first.reports
    assert again.levels.tolist() == first.levels.tolist()
    both = hh.summarize(first) + hh.summarize(second)
    assert both == hh.summarize(first + second) == sum([hh.summarize(second), hh.summarize(first)])
    assert dn.HitterSummary.from_bytes(both.to_bytes()) == both
    assert both.simulated
    assert both + hh.empty_summary() == both
    for damaged in (both.to_bytes()[:-1], both.to_bytes()[:10], b"x" + both.to_bytes(), both.levels[0].to_bytes()):
        with pytest.raises(dn.MalformedSummary):
            dn.HitterSummary.from_bytes(damaged)


def test_a_simulated_summary_has_the_means_of_real_reports(hh: dn.HeavyHitters) -> None:
    counts = {"abc": 9000, "abcdefgh": 6000, "b": 3000}
    values = [word for word, count in counts.items() for _ in range(count)]
    runs = 8
    real = np.mean([hh.summarize(hh.privatize(values, seed=run)).levels[1].counts for run in range(runs)], axis=0)
    drawn = np.mean([hh.simulate(counts, seed=run).levels[1].counts for run in range(runs)], axis=0)
    # counts are nearly Poisson; 6 standard errors of a difference, and their squares as chi-square
    scores = (real - drawn) / np.sqrt((real + drawn + 1) / runs)
    assert np.abs(scores).max() < 6
    assert (scores**2).mean() < 1.3


# What a search finds -------------------------------------------------------------------------------


def truth_of(counts: dict[str, int], hh: dn.HeavyHitters) -> dict[tuple[str, bool], float]:
    users: Counter[tuple[str, bool]] = Counter()
    for word, count in counts.items():
        data = sequence(word.encode(), hh.max_bytes)
        users[data[:-1].decode(), data[-1] == END] += count
    return {found: count / sum(counts.values()) for found, count in users.items()}


@pytest.fixture(scope="module")
def searches(hh: dn.HeavyHitters) -> list[dn.Findings]:
    return [hh.find(hh.simulate(zipf(60_000), seed=run)) for run in range(25)]


def test_false_findings_are_as_rare_as_stated(hh: dn.HeavyHitters, searches: list[dn.Findings]) -> None:
    truth = truth_of(zipf(60_000), hh)
    false = [np.mean([(row.label, row.whole) not in truth for row in found.rows()]) for found in searches]
    assert np.mean([len(found) for found in searches]) > 20
    assert np.mean(false) < searches[0].rate + 6 * np.std(false) / math.sqrt(len(false))
    assert np.mean(false) < 0.1


def test_intervals_cover_the_truth_among_the_strings_listed(hh: dn.HeavyHitters, searches: list[dn.Findings]) -> None:
    truth = truth_of(zipf(60_000), hh)
    for level in (0.95, 0.5):
        rows = [row for found in searches for row in found.rows(level)]
        shares = [truth.get((row.label, row.whole), 0.0) for row in rows]
        covered = np.mean([row.low <= share <= row.high for row, share in zip(rows, shares, strict=True)])
        assert abs(covered - level) < 6 * math.sqrt(level * (1 - level) / len(rows))
    above = np.mean([row.frequency > share for row, share in zip(rows, shares, strict=True)])
    assert abs(above - 0.5) < 6 * math.sqrt(0.25 / len(rows))


def test_strings_above_the_stated_frequency_are_found(hh: dn.HeavyHitters, searches: list[dn.Findings]) -> None:
    truth, found, sought = truth_of(zipf(60_000), hh), 0, 0
    for search in searches:
        listed = {(row.label, row.whole) for row in search.rows()}
        for (label, whole), share in truth.items():
            need = next(f for length, f in search.found_from if len(label) <= length)
            if share >= need:
                sought, found = sought + 1, found + ((label, whole) in listed)
    assert sought > 200
    assert found / sought > 0.9


def test_no_string_is_longer_than_allowed_and_long_ones_are_marked(
    hh: dn.HeavyHitters, searches: list[dn.Findings]
) -> None:
    rows = [row for found in searches for row in found.rows()]
    assert all(len(row.label.encode()) <= hh.max_bytes for row in rows)
    cut = hh.find(hh.simulate({"abcdefgh": 30_000, "abcdef": 10_000, "": 20_000}, seed=1)).rows()
    assert [(row.label, row.whole) for row in cut[:3]] == [("abcdef", False), ("", True), ("abcdef", True)]


def test_nothing_is_found_where_everybody_differs(hh: dn.HeavyHitters) -> None:
    rng = np.random.default_rng(0)
    all_words = ["".join(rng.choice(list(LETTERS), 6)) for _ in range(5000)]
    found = [hh.find(hh.simulate(dict.fromkeys(all_words, 1), seed=run)) for run in range(10)]
    assert sum(len(search) > 0 for search in found) <= 4  # each with a chance of at most 5%
    empty = min(found, key=len)
    assert empty.rows() == []
    assert "not listed" in empty.missed
    assert empty.to_arrow().num_rows == 0
    assert empty.unlisted[0] == 1.0


def test_text_in_any_script_is_found_without_an_alphabet() -> None:
    counts = {"naïve": 30_000, "日本": 30_000, "😀!": 20_000, "plain": 20_000}
    hh = dn.HeavyHitters.new(epsilon=4.0, max_bytes=8, lengths=(2, 3, 4, 5, 6, 7, 9), cohorts=32)
    found = hh.find(hh.simulate(counts, seed=3), budget=60_000)
    assert set(counts) <= {row.label for row in found.top(6)}


def test_a_small_budget_is_said(hh: dn.HeavyHitters) -> None:
    doing: list[tuple[str, float]] = []
    found = hh.find(
        hh.simulate(zipf(60_000), seed=1), budget=600, progress=lambda what, share: doing.append((what, share))
    )
    assert "The budget was too small" in found.missed
    assert [share for _, share in doing] == sorted(share for _, share in doing)
    full = hh.find(hh.simulate(zipf(60_000), seed=1))
    assert "budget" not in full.missed
    assert found.found_from[-1][1] > full.found_from[-1][1]


def test_findings_are_printed_tabulated_and_drawn(searches: list[dn.Findings], tmp_path: Any) -> None:
    found = searches[0]
    assert f"{len(found)} strings found" in str(found)
    table = found.to_arrow()
    assert table.column_names == list(dn.FoundString._fields)
    assert table.num_rows == len(found)
    assert found.to_dict(top=3)["strings"] == [row._asdict() for row in found.top(3)]
    found.plot(tmp_path / "found.png", top=5)
    assert (tmp_path / "found.png").read_bytes().startswith(b"\x89PNG")


def test_other_mechanisms_for_open_strings_serve_too() -> None:
    named = open_mechanisms()
    assert "orr" in named
    for name in named:
        hh = dn.HeavyHitters.new(epsilon=4.0, mechanism=name, alphabet=LETTERS, max_bytes=4, lengths=(3, 5), cohorts=64)
        found = hh.find(hh.simulate({"abcd": 30_000, "ab": 20_000, "gh": 10_000}, seed=1))
        assert {"abcd", "ab", "gh"} <= {row.label for row in found.rows()}, name


# Selection -----------------------------------------------------------------------------------------


def test_far_above_the_threshold_the_interval_is_the_usual_one() -> None:
    x, s, t = np.array([10.0]), np.array([1.0]), np.array([2.0])
    assert given_selection(x, s, t, 0.025) == pytest.approx(10 - 1.959964, abs=1e-5)
    assert given_selection(x, s, t, 0.975) == pytest.approx(10 + 1.959964, abs=1e-5)
    near = np.array([2.1])
    assert given_selection(near, s, t, 0.5) < 1.0
    assert given_selection(near, s, t, 0.025) < -10


def test_the_interval_given_selection_covers_among_the_selected() -> None:
    rng = np.random.default_rng(1)
    drawn = rng.normal(1.0, 1.0, 200_000)
    seen = drawn[drawn > 2.0]
    ones = np.ones(len(seen))
    low, high = (given_selection(seen, ones, 2 * ones, chance) for chance in (0.05, 0.95))
    covered = np.mean((low <= 1.0) & (high >= 1.0))
    assert abs(covered - 0.9) < 6 * math.sqrt(0.09 / len(seen))
    plain = np.mean(np.abs(seen - 1.0) < 1.645)
    assert plain < 0.8  # the usual interval does not


def test_the_smallest_frequency_found_passes_all_thresholds_with_the_stated_chance() -> None:
    from statistics import NormalDist

    f = found_from([(0.1, lambda _: 0.02), (0.12, lambda _: 0.01)], 0.9)
    normal = NormalDist()
    assert normal.cdf((f - 0.1) / 0.02) * normal.cdf((f - 0.12) / 0.01) == pytest.approx(0.9)
    assert found_from([(2.0, lambda _: 0.1)], 0.9) == 1.0


# Wrong inputs --------------------------------------------------------------------------------------

GOOD: dict[str, Any] = {"epsilon": 1.0, "alphabet": "ab", "max_bytes": 4}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"epsilon": 0}, "epsilon must be positive"),
        ({"epsilon": 51.0}, "epsilon must be at most 50"),
        ({"max_bytes": 0}, "max_bytes must be a whole number from 1 to 255"),
        ({"max_bytes": 256}, "max_bytes must be a whole number from 1 to 255"),
        ({"alphabet": ""}, "alphabet must not be empty"),
        ({"alphabet": 5}, "alphabet must be a string"),
        ({"lengths": (3, 2, 5)}, "lengths must increase and end with 5"),
        ({"lengths": (2, 4)}, "lengths must increase and end with 5"),
        ({"lengths": (0, 5)}, "lengths must be a whole number from 1"),
        ({"lengths": ()}, "levels must be a whole number from 1 to 64"),
        ({"lengths": 5}, "lengths must be a list"),
        ({"lengths": "35"}, "lengths must be a list"),
        ({"max_bytes": 255, "alphabet": None}, "max_bytes must be small enough for 64 groups, got 255. It needs 127"),
        ({"mechanism": "grr", "cohorts": 5}, "mechanism must be one of cms, hcms, orappor, orr"),
        ({"mechanism": "magic"}, "mechanism must be one of"),
        ({"seed": "x"}, "seed must be a whole number"),
        ({"seed": 1.5}, "seed must be a whole number"),
        ({"seed": 2**26}, "seed must be a whole number from 0 to 67108863"),
        ({"k": 5}, "parameters must not name a domain"),
        ({"cohorts": 0}, "cohorts must be a whole number from 1"),
        ({"colour": 3}, "parameters must be known to orr"),
        ({"key": "k" * 33}, "key must have at most 32 bytes"),
    ],
)
def test_a_wrong_parameter_is_refused_in_one_line(change: dict[str, Any], reason: str) -> None:
    with pytest.raises(dn.InvalidArgument, match=reason) as caught:
        dn.HeavyHitters.new(**{**GOOD, **change})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("value", [None, 5, b"\xff", "\ud800", float("nan"), ["a"], bytearray(b"a")])
def test_what_is_no_text_is_refused_with_its_position(hh: dn.HeavyHitters, value: object) -> None:
    for make in (lambda: hh.privatize(["a", value]), lambda: hh.privatize_one(value)):
        with pytest.raises(dn.ValueOutsideDomain, match="must be text"):
            make()


def test_wrong_reports_and_summaries_are_refused(hh: dn.HeavyHitters) -> None:
    made = hh.privatize(["a"] * 3)
    with pytest.raises(dn.MalformedReport, match="a level must lie from 0 to 2"):
        hh.summarize(dn.HitterReports(np.full(3, 7, np.uint16), made.reports))
    with pytest.raises(dn.MalformedReport, match="one level per report"):
        dn.HitterReports(np.zeros(2, np.uint16), made.reports)
    with pytest.raises(dn.MalformedReport, match="no column 'level'"):
        dn.HitterReports.from_arrow(made.reports.to_arrow())
    with pytest.raises(dn.MalformedReport, match="pairs of a level and a report"):
        hh.summarize([3])  # type: ignore[list-item]
    with pytest.raises(dn.MalformedReport, match="pairs of a level and a report"):
        hh.summarize(3)  # type: ignore[arg-type]
    with pytest.raises(dn.MalformedReport, match="a level must lie from 0 to 65535"):
        dn.HitterReports(np.full(3, 70_000), made.reports)
    with pytest.raises(dn.EmptySummary, match="level 0 has no reports"):
        hh.find(hh.empty_summary())
    with pytest.raises(dn.InvalidArgument, match="summary must be"):
        hh.find(5)  # type: ignore[arg-type]
    summary = hh.simulate({"a": 100})
    for wrong, reason in ({"rate": 0}, "rate"), ({"target": "moon"}, "target"), ({"budget": 0}, "budget"):
        with pytest.raises(dn.InvalidArgument, match=f"{reason} must"):
            hh.find(summary, **wrong)
    for counts in ({}, [3], {"a": -1}, {"a": 1.5}):
        with pytest.raises(dn.InvalidArgument, match="count"):
            hh.simulate(counts)  # type: ignore[arg-type]


def test_summaries_that_hold_other_levels_than_they_say_are_refused(hh: dn.HeavyHitters) -> None:
    made = hh.simulate({"a": 300})
    other = dn.HeavyHitters.new(epsilon=4.0, alphabet=LETTERS, max_bytes=6, lengths=(3, 5, 7), cohorts=32)
    with pytest.raises(dn.FingerprintMismatch, match="a summary belongs to another spec"):
        hh.find(dn.HitterSummary(other.simulate({"a": 300}).levels, hh.fingerprint))
    with pytest.raises(dn.MalformedSummary, match="summary must have 3 levels, got 1"):
        hh.find(dn.HitterSummary(made.levels[:1], hh.fingerprint))
    body = made.to_bytes()[:-32]
    one_more = body[:6] + b"\x04" + body[7:]
    for wrong in (body + b"more", body[:-9], one_more):
        with pytest.raises(dn.MalformedSummary):
            dn.HitterSummary.from_bytes(wrong + hashlib.sha256(wrong).digest())


def test_nothing_is_found_where_all_strings_are_different_and_cells_hold_few_reports() -> None:
    """Estimates lean to the right there: taken for normal, 4 of 5 lists would have a false string."""
    wrong = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        counts = dict.fromkeys(("".join(rng.choice(list("mnopqrst"), 6)) for _ in range(6000)), 1)
        hh = dn.HeavyHitters.new(
            epsilon=8.0,
            alphabet="abcdefghijklmnopqrst",
            max_bytes=6,
            lengths=(3, 5, 7),
            cohorts=16,
            buckets=512,
            key=str(seed),
        )
        wrong += len(hh.find(hh.simulate(counts, seed=seed))) > 0
    assert wrong <= 1


def test_the_share_of_strings_that_are_not_listed_is_as_uncertain_as_it_says() -> None:
    """Of 40 intervals of 95%, fewer than 33 hold the truth by chance in one of 1000 suites; without the difference
    of the sums about 26 do."""
    words = [a + b + c for a in "abcdefgh" for b in "abcdefgh" for c in "abcdef"]
    shares = 1 / np.arange(1, len(words) + 1)
    held = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        counts = dict(zip(rng.permutation(words).tolist(), rng.multinomial(3000, shares / shares.sum()), strict=True))
        hh = dn.HeavyHitters.new(
            epsilon=8.0, alphabet="abcdefgh", max_bytes=3, lengths=(2, 3, 4), cohorts=64, key=str(seed)
        )
        found = hh.find(hh.simulate(counts, seed=seed))
        truth = 1 - sum(counts.get(row.label, 0) for row in found.rows() if row.whole) / 3000
        share, error = found.unlisted
        held += abs(share - truth) <= 1.96 * error
    assert held >= 33


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"heavy_hitters":1}', "5"])
def test_a_damaged_document_is_refused(text: str, hh: dn.HeavyHitters) -> None:
    with pytest.raises(dn.SpecError):
        dn.HeavyHitters.from_json(text)
    truth = str(hh.levels[1].thresholds["truth"])
    with pytest.raises(dn.SpecError, match="thresholds"):
        dn.HeavyHitters.from_json(hh.to_json().replace(truth, str(int(truth) + 1)))


def test_files_of_text_are_columns_too(hh: dn.HeavyHitters) -> None:
    assert len(hh.privatize(pa.array(["a", "b"]))) == 2
    assert len(hh.privatize([])) == 0

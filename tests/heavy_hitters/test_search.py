"""What a search promises: false findings, intervals and what is found, measured."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.heavy_hitters.selection import found_from, given_selection
from deniable.heavy_hitters.strings import END, sequence
from deniable.mechanisms.registry import open_mechanisms
from tests.heavy_hitters.words import LETTERS, zipf


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

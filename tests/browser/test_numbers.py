"""Numbers on the pages: bounds are never rounded down, and files keep what they are given."""

from __future__ import annotations

import math
import re

import pytest

from tests.browser.functions import called

EPSILONS = [0.5, 1.0, 1.5, 3.0, 5.0, 8.0]


def test_what_is_at_most_so_much_is_never_rounded_below_it() -> None:
    ratios = [math.exp(epsilon) for epsilon in EPSILONS]
    said = called("format", f"{ratios}.map((ratio) => [m.odds(ratio), m.suspicion(ratio)])")
    assert [re.findall(r"factor of ([\d,.]+)\.", odds)[0] for odds, _ in said] == [
        "1.65",
        "2.72",
        "4.49",
        "20.1",
        "149",
        "2,981",
    ]
    assert [re.findall(r"most ([\d.]+)%", sure)[0] for _, sure in said] == [
        "62.3",
        "73.2",
        "81.8",
        "95.3",
        "99.4",
        "99.97",
    ]


@pytest.mark.parametrize("ratio", [1 + 1e-9, 9.999, 10, 99.95, 999.2, 3, 1e9, math.exp(49)])
def test_bounds_have_three_digits_and_no_exponent(ratio: float) -> None:
    text = called("format", f"m.upTo({ratio!r})")
    assert re.fullmatch(r"[\d,]+(\.\d+)?", text)
    assert ratio - 1e-9 * ratio <= float(text.replace(",", "")) <= ratio * 1.011


def test_a_copied_table_keeps_commas_in_their_cells_and_formulas_are_marked() -> None:
    sheet = (
        '{heads: ["label", "frequency"], rows: [["Paris, France", 0.5], ["=1+1", 0.25], ["a\\tb", 0.1], ["-5", -0.5]]}'
    )
    copied, saved = called("format", f"[m.tsv({sheet}), m.csv({sheet})]")
    assert copied.split("\n") == [
        "label\tfrequency",
        "Paris, France\t0.5",
        "'=1+1\t0.25",
        '"a\tb"\t0.1',
        "-5\t-0.5",
        "",
    ]
    assert saved.split("\r\n") == ["label,frequency", '"Paris, France",0.5', "'=1+1,0.25", "a\tb,0.1", "-5,-0.5", ""]


@pytest.mark.parametrize("label", ["-5", "+5", "-5.25"])
def test_a_label_that_is_a_number_stays_one(label: str) -> None:
    assert called("format", f"m.csv({{heads: ['label'], rows: [['{label}']]}})") == f"label\r\n{label}\r\n"


@pytest.mark.parametrize("label", ["-5+cmd", "@SUM(A1)", "=5", "-A1", "+1 234"])
def test_a_label_that_could_be_a_formula_is_text(label: str) -> None:
    assert called("format", f"m.csv({{heads: ['label'], rows: [['{label}']]}})") == f"label\r\n'{label}\r\n"


@pytest.mark.parametrize(
    ("users", "error", "text"),
    [
        (16_877, 610, "16,880"),
        (16_877, 6_100, "16,900"),
        (16_877, 61, "16,877"),
        (16_877, 0, "16,877"),
        (0.2, 9.9, "0"),
        (-3, 610, "0"),
        (-38.4, 99, "-38"),
    ],
)
def test_a_number_of_people_has_the_digits_that_its_error_allows(users: float, error: float, text: str) -> None:
    assert called("format", f"m.people({users}, {error})") == text


HOUR = 3_600_000
THURSDAY = 24 * 14  # 1970-01-15
NOW = (THURSDAY + 13) * HOUR


def collection(unit: str, buckets: dict[int, int], waiting: int = 0) -> str:
    found = [f"{{bucket: {bucket}, counted: {counted}}}" for bucket, counted in buckets.items()]
    return f'{{settings: {{bucket: "{unit}"}}, waiting: {waiting}, buckets: [{", ".join(found)}]}}'


def test_today_counts_the_hours_of_the_day_and_what_has_just_arrived() -> None:
    hourly = collection("hour", {THURSDAY - 1: 5, THURSDAY: 7, THURSDAY + 12: 2})
    assert called("times", f"m.today({hourly}, {NOW})") == {"count": 9, "text": "today (UTC)"}
    daily = collection("day", {THURSDAY - 24: 5, THURSDAY: 7}, waiting=3)
    assert called("times", f"m.today({daily}, {NOW})") == {"count": 10, "text": "today (UTC), or just arrived"}


def test_a_collection_that_knows_weeks_alone_tells_of_this_week() -> None:
    weekly = collection("week", {THURSDAY - 3 * 24 - 168: 5, THURSDAY - 3 * 24: 7})  # weeks begin on Monday
    assert called("times", f"m.today({weekly}, {NOW})") == {"count": 7, "text": "this week (UTC)"}


def test_the_small_bars_have_one_for_each_day_also_without_reports() -> None:
    found = called("times", f"m.recent({collection('day', {THURSDAY - 48: 5, THURSDAY: 7})}, {NOW})")
    assert found["counts"] == [0] * 27 + [5, 0, 7]
    assert found["text"] == "Reports in each of the last 30 days"


def test_a_day_without_reports_is_a_gap_in_the_trend() -> None:
    points = ", ".join(f"{{bucket: {bucket}, frequency: 0.5}}" for bucket in (0, 24, 72, 96))
    runs = called("lines", f"m.runs([{points}], 24)")
    assert [[point["bucket"] for point in run] for run in runs] == [[0, 24], [72, 96]]
    assert called("lines", "m.dates(0, 240, 24, 5)") == [0, 48, 96, 144, 192, 240]

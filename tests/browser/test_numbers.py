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

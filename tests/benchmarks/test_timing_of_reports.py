"""The measurement of side channels runs for every mechanism, and sees a leak that is large."""

from __future__ import annotations

import numpy as np
import pytest

import deniable as dn
from benchmarks import timing_of_reports as timing


@pytest.mark.parametrize("row", timing.rows(), ids=lambda row: f"{row.name}-{row.k}-{row.high}-{row.low}")
def test_every_row_is_measured(row: timing.Row) -> None:
    m = dn.mechanism(row.name, k=row.k, epsilon=1.0)
    for question in ("value", "coin"):
        measured = timing.times(m, 10, (row.low, row.high), question)
        if measured is None:
            assert question == "coin"
            continue
        elapsed, kinds = measured
        assert len(elapsed) == len(kinds) == 20
        assert (elapsed > 0).all()


def test_most_mechanisms_have_one_coin_that_decides() -> None:
    without = {
        row.name
        for row in timing.rows()
        if timing.times(dn.mechanism(row.name, k=row.k, epsilon=1.0), 1, (row.low, row.high), "coin") is None
    }
    assert without == {"cms", "orappor", "she"}


def test_a_difference_in_time_is_guessed_from_and_noise_is_not() -> None:
    generator = np.random.default_rng(3)
    kinds = generator.integers(0, 2, 20_000)
    noise = generator.gamma(9.0, 100.0, 20_000)
    assert timing.guess_rate(noise + 2000 * kinds, kinds) > 0.99
    assert abs(timing.guess_rate(noise, kinds) - 0.5) < 0.03
    assert timing.welch(noise + 200 * kinds, kinds) > 20 > abs(timing.welch(noise, kinds))

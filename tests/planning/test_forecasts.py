"""Forecasts are what the mechanisms themselves state, and what simulations show."""

from __future__ import annotations

import math

import pytest

import deniable as dn
from deniable.mechanisms.forecasts.built import NO_FORMULA, forecast, of_mechanism
from deniable.mechanisms.forecasts.formulas import FORMULAS
from deniable.mechanisms.forecasts.hashed import KINDS, open_sizes
from tools.measure_forecasts import accepted, settings

NAMES = [name for name in dn.list_mechanisms() if name not in NO_FORMULA]


@pytest.mark.parametrize("name", sorted(FORMULAS))
def test_formulas_are_exact_where_the_error_is_the_same_for_all_values(name: str) -> None:
    checked = 0
    for setting in [one for one, _ in zip(settings(3, [name]), range(12), strict=False)]:
        try:
            found = forecast(name, setting.k, setting.epsilon)
        except dn.InvalidArgument:
            with pytest.raises(dn.InvalidArgument):
                dn.mechanism(name, k=setting.k, epsilon=setting.epsilon)
            continue
        made = dn.mechanism(name, k=setting.k, epsilon=setting.epsilon)
        for f in (0.0, 0.1, 1.0):
            assert found.variance(f) == pytest.approx(made.variance(f), rel=1e-2 if name == "she" else 1e-5, abs=1e-12)
        stated = of_mechanism(made)
        assert (found.bits, found.id_bits, found.by_id) == (stated.bits, stated.id_bits, stated.by_id)
        assert found.spent == pytest.approx(stated.spent, abs=1e-5)
        assert stated.attack <= found.attack * (1 + 1e-9)
        checked += 1
    assert checked >= 3


@pytest.mark.parametrize("name", sorted({*KINDS, "mss"}))
def test_averages_over_values_are_within_two_percent(name: str) -> None:
    for k, epsilon in ((2, 2.0), (7, 0.5), (20, 2.0), (100, 4.0)):
        found, made = forecast(name, k, epsilon), dn.mechanism(name, k=k, epsilon=epsilon)
        assert math.sqrt(found.mean_variance / made.variance(1 / k)) == pytest.approx(1, abs=0.02)
        assert found.bits == made.report_bits


@pytest.mark.parametrize("setting", [one for one in accepted(11, 40, most=200) if one.k > 4][:18], ids=str)
def test_simulations_have_the_standard_error_of_the_forecast(setting: object) -> None:
    # 5,000 squared errors: their root mean varies by 1%, so that 6% is six standard errors
    assert setting.ratio(5) == pytest.approx(1, abs=0.06)  # type: ignore[attr-defined]


def test_every_mechanism_but_the_given_designs_has_a_forecast() -> None:
    assert {forecast(name, 50, 1.0).name for name in NAMES} == set(NAMES)
    with pytest.raises(dn.InvalidArgument, match="blocks that you give it"):
        forecast("design", 50, 1.0)


def test_thresholding_says_what_it_spends() -> None:
    assert forecast("the", 50, 1.0).spent == pytest.approx(0.896, abs=1e-3)


def test_open_sizes_are_those_that_tuning_finds() -> None:
    best = next(iter(open_sizes("orr", 1000, 2.0)))
    tuned = dn.tune("orr", candidates=1000, epsilon=2.0, n=10_000)
    assert (best.options["cohorts"], best.options["buckets"]) == (tuned.best.cohorts, tuned.best.buckets)
    assert math.sqrt(best.variance(0.0, 10_000)) == pytest.approx(tuned.std_error)
    assert best.bits == tuned.best.report_bits

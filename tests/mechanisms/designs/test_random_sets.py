"""Sets for domains that must not be padded: pseudo-random, reproducible, and of the stated error."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import deniable as dn
from deniable.mechanisms.designs.random_sets import RandomSets
from deniable.mechanisms.numbers import units


@pytest.mark.parametrize("k", [10, 12, 64, 97, 1000])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_reports_stay_within_the_domain(k: int, epsilon: float) -> None:
    m = dn.CyclotomicSubsetResponse.choose(k, epsilon, padding=False)
    assert m.sets.modulus == k
    assert m.symbols == len(m.sets.multipliers) * k
    assert sorted(m.sets.elements.tolist()) == list(range(k))
    assert all(math.gcd(unit, k) == 1 for unit in m.sets.multipliers)
    assert len(set(m.sets.multipliers)) == len(m.sets.multipliers)
    assert dn.from_spec(m.spec.to_json()) == m


@pytest.mark.parametrize("k", [1000, 22_000])
def test_the_loss_is_that_of_uniform_data_and_near_c_over_c_minus_one(k: int) -> None:
    m = dn.CyclotomicSubsetResponse.choose(k, 2.0, padding=False)
    e = math.exp(2.0)
    uniform = m.variance(1 / k, target="population") / (4 * e / (e - 1) ** 2)
    assert m.loss == pytest.approx(uniform, rel=2e-3)
    assert m.loss <= 1.02 * 32 / 31


def test_the_error_is_the_stated_one_in_simulation() -> None:
    m = dn.CyclotomicSubsetResponse.choose(300, 1.0, padding=False)
    true = np.full(300, 20)
    errors = [((m.unbiased(dn.simulate(m, true, seed=run)) - 1 / 300) ** 2).mean() for run in range(60)]
    stated = m.variance(1 / 300, n=6000)
    # 60 x 300 squared errors of a normal: the mean varies by sqrt(2/18000) = 1% of itself
    assert np.mean(errors) == pytest.approx(stated, rel=0.065)


def test_a_bound_on_the_bits_is_honoured_or_refused() -> None:
    assert dn.CyclotomicSubsetResponse.choose(1000, 2.0, padding=False, max_bits=12).report_bits == 12
    with pytest.raises(dn.InvalidArgument, match="max_bits must be at least 10"):
        dn.CyclotomicSubsetResponse.choose(1000, 2.0, padding=False, max_bits=9)


def test_the_best_of_several_seeds_is_taken() -> None:
    m = dn.CyclotomicSubsetResponse.choose(100, 1.0, padding=False)
    bound = math.exp(1.0)
    tried = [RandomSets(100, size, 32, seed).loss(bound) for size in (26, 27, 28) for seed in range(8)]
    assert m.loss == pytest.approx(min(tried), abs=1e-5)


def test_a_set_whose_spectrum_has_a_zero_has_no_finite_loss() -> None:
    assert math.isinf(RandomSets(8, 2, 4, 0).loss(2.0))  # two elements modulo 8 always vanish somewhere


def test_units_are_counted() -> None:
    for number in range(1, 200):
        assert units(number) == sum(math.gcd(other, number) == 1 for other in range(1, number + 1)), number


@pytest.mark.parametrize("change", [{"modulus": 101}, {"size": 0}, {"size": 100}, {"count": 1000}, {"seed": -1}])
def test_sets_in_a_spec_that_are_not_what_they_must_be_are_refused(change: dict[str, int]) -> None:
    document = json.loads(dn.CyclotomicSubsetResponse.choose(100, 1.0, padding=False).spec.to_json())
    document["parameters"]["sets"].update(change)
    with pytest.raises(dn.DeniableError):
        dn.from_spec(json.dumps(document))

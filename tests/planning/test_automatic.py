"""The mechanism "auto": the least error, then the fewest bits, then the simplest."""

from __future__ import annotations

import pytest

import deniable as dn
from deniable.mechanisms.forecasts.choice import CLOSED_NAMES
from deniable.mechanisms.hashing.public_coins import PublicCoin


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0, 6.0])
@pytest.mark.parametrize("k", [2, 3, 10, 57, 400])
def test_no_mechanism_with_anonymous_reports_is_more_exact(k: int, epsilon: float) -> None:
    chosen = dn.mechanism(k=k, epsilon=epsilon)
    assert not isinstance(chosen, PublicCoin)
    for name in CLOSED_NAMES:
        try:
            other = dn.mechanism(name, k=k, epsilon=epsilon)
        except dn.InvalidArgument:
            continue
        if isinstance(other, PublicCoin) or name in ("mss", "orr", "orappor", "cms", "hcms"):
            continue
        ratio = chosen.variance(1 / k) / other.variance(1 / k)
        assert ratio <= 1.01**2 + 1e-9
        if ratio > 1 / 1.005**2:  # as exact: then its reports are no shorter
            assert chosen.report_bits <= other.report_bits or ratio < 1


def test_the_simplest_is_taken_where_all_are_alike() -> None:
    assert dn.mechanism(labels=["yes", "no"], epsilon=1.0).name == "grr"
    assert dn.mechanism("auto", k=2, epsilon=1.0).name == "grr"


def test_ids_make_reports_short_and_limits_are_kept() -> None:
    assert dn.mechanism(k=1000, epsilon=2.0, ids=True).report_bits == 3
    assert dn.mechanism(k=1000, epsilon=2.0, max_bits=11).report_bits <= 11
    assert dn.mechanism(domain=dn.Domain.open(), epsilon=2.0, candidates=300).name == "orr"


def test_names_are_read_in_any_case_and_typos_answered() -> None:
    assert dn.mechanism("OUE", k=5, epsilon=1.0).name == "oue"
    assert dn.mechanism(" Auto ", k=5, epsilon=1.0).name == "grr"
    with pytest.raises(dn.InvalidArgument, match=r"got 'cssr'. Did you mean 'csr'\?"):
        dn.mechanism("cssr", k=5, epsilon=1.0)
    with pytest.raises(dn.InvalidArgument, match='"auto" chooses one'):
        dn.mechanism("best", k=5, epsilon=1.0)


@pytest.mark.parametrize("wrong", [{"w": 3}, {"candidates": 5}, {"max_bits": 0}])
def test_parameters_of_one_mechanism_need_its_name(wrong: dict[str, int]) -> None:
    with pytest.raises(dn.InvalidArgument):
        dn.mechanism(k=50, epsilon=1.0, **wrong)


@pytest.mark.parametrize("epsilon", [5e-324, 1e-300, 1e-17, 6e-16, 1e-15, 1e-9])
@pytest.mark.parametrize("k", [2, 1000])
def test_an_epsilon_that_is_next_to_nothing_is_refused_by_name(epsilon: float, k: int) -> None:
    if epsilon < 1e-15:
        with pytest.raises(dn.InvalidArgument, match="epsilon must be at least 1e-15"):
            dn.mechanism("auto", k=k, epsilon=epsilon)
    else:
        assert dn.mechanism("auto", k=k, epsilon=epsilon).epsilon == epsilon

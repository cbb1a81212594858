"""What is called present is there."""

from __future__ import annotations

import numpy as np
import pytest

import deniable as dn
from deniable.estimation.presence import p_values, score_at, significant


def test_the_step_up_rule_is_benjamini_and_hochberg_s() -> None:
    # their example, section 3.2: fifteen p-values, four of which are found at the rate 0.05, three by Bonferroni
    chances = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719]
    chances += [0.6528, 0.7590, 1.0000]
    assert significant(np.array(chances), 0.05).nonzero()[0].tolist() == [0, 1, 2, 3]
    assert significant(np.array(chances), 0.05, "family").nonzero()[0].tolist() == [0, 1, 2]
    assert significant(np.array(chances[::-1]), 0.05).nonzero()[0].tolist() == [11, 12, 13, 14]


@pytest.mark.parametrize("control", ["discoveries", "family"])
def test_false_alarms_stay_below_the_rate(control: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    shares = []
    for _ in range(2000):
        first = rng.normal(size=50)
        first[:5] += 4
        found = significant(p_values(first, np.ones(50), 1), 0.1, control)
        false = found[5:].sum()
        shares.append(false / max(found.sum(), 1) if control == "discoveries" else float(false > 0))
    assert np.mean(shares) < 0.1 + 4 * 0.1 / np.sqrt(2000)
    assert np.mean(shares) > 0.05


def test_presence_asks_for_a_rate_and_a_control() -> None:
    m = dn.mechanism("grr", k=4, epsilon=3.0)
    estimate = m.estimate(dn.simulate(m, [900, 100, 0, 0], seed=1))
    assert [row.label for row in estimate.present()] == [0, 1]
    with pytest.raises(dn.InvalidArgument, match="rate must lie strictly between 0 and 1"):
        estimate.present(0)
    with pytest.raises(dn.InvalidArgument, match="control must be one of discoveries, family"):
        estimate.present(control="none")


def test_strings_that_nobody_has_are_not_found_where_cells_hold_few_reports() -> None:
    """Counts of 4 and of 125 reports are right-skewed: taken for normal, most lists would have a false string."""
    absent = [f"absent {number}" for number in range(20_000)]
    for n, cohorts, buckets, epsilon in ((2000, 16, 512, 8.0), (50_000, 64, 401, 6.0)):
        people = [f"string {number}" for number in range(n)]
        wrong = 0
        for seed in range(6):
            domain = dn.Domain.open(key=str(seed))
            m = dn.mechanism("orr", domain=domain, epsilon=epsilon, candidates=100, cohorts=cohorts, buckets=buckets)
            summary = dn.simulate(m, np.ones(n, np.int64), candidates=people, seed=seed)
            found = m.estimate(summary, "per-candidate", candidates=absent).present()
            wrong += any(row.label != "(unlisted)" for row in found)
        assert wrong <= 1  # of 6 at 5% each, 2 or more with a chance of 3% if the seeds were not fixed


def test_chances_of_leaning_estimates_are_those_of_gamma_variables() -> None:
    from scipy.stats import norm, pearson3

    scores = np.array([-3.0, 0.0, 2.0, 5.0])
    for skewness in (0.01, 0.5, 2.0):
        chances = p_values(scores, np.ones(4), 1, skewness)
        np.testing.assert_allclose(chances, pearson3.sf(scores, skewness), rtol=1e-6)
        assert score_at(float(chances[-1]), skewness) == pytest.approx(5.0)
    np.testing.assert_allclose(p_values(scores, np.ones(4), 1, -1.0), norm.sf(scores))
    assert score_at(0.025) == pytest.approx(1.96, abs=1e-4)

"""Estimates under several specs, combined: unbiased, with errors that simulations confirm."""

from __future__ import annotations

import numpy as np
import pytest

import deniable as dn

LABELS = list("abcde")
OLD, NEW = (dn.mechanism(name, labels=LABELS, epsilon=1.5) for name in ("grr", "oue"))
COUNTS = np.array([500, 300, 150, 50, 0])


def parts(seed: int = 0, many: int = 1) -> list[tuple[dn.RandomizedResponse, dn.Summary]]:
    return [(OLD, dn.simulate(OLD, COUNTS, seed=seed)), (NEW, dn.simulate(NEW, many * COUNTS, seed=seed + 10**6))]  # type: ignore[list-item]


def test_one_part_is_the_estimate_of_its_mechanism() -> None:
    ((m, s), _) = parts()
    assert dn.combine_specs([(m, s)], "mle").frequencies.tolist() == m.estimate(s, "mle").frequencies.tolist()
    assert dn.combine_specs([(m, s), (NEW, NEW.empty_summary())], "mle").n == s.n


@pytest.mark.parametrize("target", ["users", "population"])
def test_the_combination_is_the_weighted_mean_of_the_unbiased_estimates(target: str) -> None:
    pairs = parts(many=3)
    found = dn.combine_specs(pairs, "unbiased", target=target)
    weights = np.array(
        [s.n if target == "users" else 1 / m.variance(0.0, s.n, target="population") for m, s in pairs], np.float64
    )
    weights /= weights.sum()
    expected = sum(w * m.estimate(s, "unbiased").frequencies for w, (m, s) in zip(weights, pairs, strict=True))
    assert np.allclose(found.frequencies, expected, atol=1e-12)
    assert found.details["weights"] == weights.tolist()


@pytest.mark.parametrize("target", ["users", "population"])
def test_errors_and_intervals_are_those_of_simulations(target: str) -> None:
    truth, runs, draw = COUNTS / COUNTS.sum(), 400, np.random.default_rng(8).multinomial
    estimates, hits, sums = [], 0.0, []
    for seed in range(runs):
        pairs = []
        for place, m in enumerate((OLD, NEW)):
            counts = COUNTS if target == "users" else draw(COUNTS.sum(), truth)
            pairs.append((m, dn.simulate(m, counts, seed=2 * seed + place)))
        found = dn.combine_specs(pairs, "unbiased", target=target)
        estimates.append(found.frequencies)
        low, high = found.interval()
        hits += ((low <= truth) & (truth <= high)).mean() / runs
        sums.append(found.sum(["b", "c"]))
    spread = np.std(estimates, axis=0)
    errors = found.sums.errors_at(truth, slice(None))  # type: ignore[union-attr]
    assert np.abs(np.mean(estimates, axis=0) - truth).max() < 6 * errors.max() / np.sqrt(runs)
    assert np.allclose(spread, errors, rtol=6 / np.sqrt(2 * runs))
    assert abs(hits - 0.95) < 6 * np.sqrt(0.05 * 0.95 / runs)
    assert np.std([each.value for each in sums]) == pytest.approx(sums[0].std_error, rel=6 / np.sqrt(2 * runs))


@pytest.mark.parametrize("target", ["users", "population"])
def test_the_last_line_says_what_one_report_adds_under_the_spec_where_that_is_most(target: str) -> None:
    pairs = parts(many=3)
    found = dn.combine_specs(pairs, "unbiased", target=target)
    added = [
        weight * found.n / s.n * max(m.unbiased(m.summarize(np.array([report])))[0] for report in m.layout.all())
        for (m, s), weight in zip(pairs, found.details["weights"], strict=True)
    ]
    assert np.ptp(added) > 0.1
    assert str(found).splitlines()[-1].startswith(f"One false report moves the count of a by up to {max(added):.3g}; ")


def test_labels_in_another_order_are_matched() -> None:
    other = dn.mechanism("grr", labels=LABELS[::-1], epsilon=1.0)
    summary = dn.simulate(other, COUNTS[::-1] * 50, seed=4)
    found = dn.combine_specs([(OLD, dn.simulate(OLD, COUNTS * 50, seed=3)), (other, summary)], "unbiased")
    assert np.allclose(found.frequencies, COUNTS / COUNTS.sum(), atol=0.03)
    assert found.sum(["a", "b"]).value == pytest.approx(0.8, abs=0.04)
    assert (found - OLD.estimate(dn.simulate(OLD, COUNTS * 50, seed=5)))["a"].low < 0.05


def test_a_constrained_combination_is_a_distribution_within_its_intervals() -> None:
    found = dn.combine_specs(parts())
    low, high = found.interval(simultaneous=True)
    assert found.frequencies.sum() == pytest.approx(1)
    assert (low >= 0).all()
    assert (low <= found.frequencies).all()
    assert (found.frequencies <= high).all()
    assert (high <= 1).all()
    assert "a" in [row.label for row in found.present()]
    assert 0 < found.visible() < 0.5
    assert found.simulated


def test_what_cannot_be_combined_is_refused() -> None:
    ((m, s), _) = parts()
    with pytest.raises(dn.InvalidArgument, match="have reports"):
        dn.combine_specs([(m, m.empty_summary())])
    with pytest.raises(dn.InvalidArgument, match="different specs"):
        dn.combine_specs([(m, s), (m, s)])
    other = dn.mechanism("grr", labels=["x", "y"], epsilon=1.0)
    foreign = other, dn.simulate(other, [5, 5])
    with pytest.raises(dn.InvalidArgument, match="same labels"):
        dn.combine_specs([(m, s), foreign])
    with pytest.raises(dn.InvalidArgument, match="projected, unbiased"):
        dn.combine_specs(parts(), "mle")

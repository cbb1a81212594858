"""The likelihood of cohorts, searched on few values, has the maximum that the whole channel has."""

from __future__ import annotations

import numpy as np
import pytest

import deniable as dn
from deniable.estimation.cohorts import likelihood
from deniable.estimation.cohorts.likelihood import most_likely
from deniable.estimation.methods.iterative import GAP, ConvergenceWarning, iterate
from deniable.estimation.methods.likelihood import log_likelihood
from tests.estimation.candidates import zipf

M = dn.mechanism("orr", k=400, epsilon=1.0, cohorts=256, buckets=4)
SUMMARY = dn.simulate(M, zipf(400, 5000), seed=1)


@pytest.mark.parametrize("wrong", [False, True])
def test_the_maximum_on_few_values_is_that_of_the_whole_channel(wrong: bool) -> None:
    start = np.zeros(400)
    if wrong:  # values that nobody has
        start[-3:] = 1 / 3
    else:
        start[:] = M.estimate(SUMMARY, "projected").frequencies
    whole = M.operator()
    assert whole is not None
    best = iterate(SUMMARY.counts, whole)
    found = most_likely(SUMMARY.counts, M.whole_design, M.channel_of, start)
    assert found.gap <= GAP
    gradient = whole.adjoint(SUMMARY.counts / SUMMARY.n / whole.forward(found.frequencies))
    assert gradient.max() <= 1 + 2 * GAP
    reached = log_likelihood(found.frequencies, SUMMARY.counts, whole)
    assert reached == pytest.approx(log_likelihood(best.frequencies, SUMMARY.counts, whole), abs=2 * GAP)
    assert np.abs(found.frequencies - best.frequencies).max() < 1e-5


def test_an_estimate_by_the_likelihood_searches_few_values(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []

    def watched(counts: np.ndarray, operator: object, *, start: np.ndarray) -> object:
        sizes.append(len(start))
        return iterate(counts, operator, start=start)  # type: ignore[arg-type]

    monkeypatch.setattr(likelihood, "iterate", watched)
    M.estimate(SUMMARY)
    assert sizes
    assert max(sizes) < 200


def test_a_search_that_does_not_end_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(likelihood, "_ROUNDS", 1)
    start = np.zeros(400)
    start[-3:] = 1 / 3
    with pytest.warns(ConvergenceWarning, match="certified gap"):
        most_likely(SUMMARY.counts, M.whole_design, M.channel_of, start)

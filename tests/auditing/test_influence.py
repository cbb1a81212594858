"""What one report adds to the estimates, against the estimate of that report alone, for all reports."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.arrays import Floats
from deniable.mechanisms.base.mechanism import Mechanism
from tests.contract import cases

MOST = 4096  # reports that are enumerated


def adds(m: Mechanism) -> Floats:
    """The estimate of one report alone, one row per report: n times the estimate is the sum over all reports."""
    payloads = [payload for payload, _ in zip(m.layout.all(), range(MOST), strict=False)]
    return np.array([m.unbiased(m.summarize(np.array([payload]))) for payload in payloads])


@pytest.mark.parametrize(("name", "setting"), cases.small_settings(), ids=str)
def test_the_extremes_of_what_a_report_adds_are_those_of_all_reports(name: str, setting: dict[str, Any]) -> None:
    m = dn.mechanism(name, **setting)
    rows = adds(m)
    assert len(rows) < MOST
    random = np.random.default_rng(1)
    for weights in (np.eye(m.k)[0], np.eye(m.k)[-1], np.arange(m.k) % 2, random.normal(size=m.k)):
        sums = rows @ weights
        least, most = m.additions(weights.astype(np.float64))
        assert least == pytest.approx(float(sums.min()), abs=1e-8 * (1 + np.abs(sums).max()))
        assert most == pytest.approx(float(sums.max()), abs=1e-8 * (1 + np.abs(sums).max()))
    if m.influence is not None:
        assert m.influence == pytest.approx((float(rows.min()), float(rows.max())), rel=1e-8)

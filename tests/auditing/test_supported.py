"""What a batch of reports supports is what single reports support, and the likelier of two levels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.domain.open import Open
from tests.contract import cases

PUBLIC = ("clh", "olh", "blh", "flh", "rhr", "orr", "hcms", "cms", "orappor", "mss", "csr", "pgr")
UNLIKE = ("orappor", "cms", "she", "matrix", "clh")  # more than two levels: other rules, tested below


@pytest.mark.parametrize(("name", "setting"), cases.small_settings(), ids=str)
def test_supporters_are_the_values_under_which_a_report_is_likelier(name: str, setting: dict[str, Any]) -> None:
    m = dn.mechanism(name, **setting)
    labels = [f"s{n}" for n in range(5)] if isinstance(m.domain, Open) else m.domain.all_labels()[:5]
    reports = m.privatize([labels[n % len(labels)] for n in range(100)], seed=1).data
    indices = np.asarray(m.domain.indices(labels))
    marked, guessed = m.supported(reports, indices), m.guesses(reports, indices)
    assert marked.shape == (100, len(labels))
    for row, own, guess in zip(reports.tolist(), marked.tolist(), guessed.tolist(), strict=True):
        chances = [m.probability(tuple(row) if isinstance(row, list) else row, label) for label in labels]
        if name not in UNLIKE and len(set(chances)) == 2:
            assert own == [chance == max(chances) for chance in chances]
        if guess >= 0:
            assert chances[guess] == max(chances)


@pytest.mark.parametrize("name", dn.list_mechanisms())
def test_no_reports_support_nothing(name: str) -> None:
    m = cases.of(name).one()
    indices = np.arange(2)
    assert m.supported(m.layout.empty(0), indices).shape == (0, 2)
    assert m.guesses(m.layout.empty(0), indices).shape == (0,)


@pytest.mark.parametrize("name", ["grr", "ss", "hr", "design", "matrix", "olh"])
def test_the_rule_for_any_mechanism_agrees(name: str) -> None:
    from deniable.mechanisms.base.definition import Definition

    m = cases.of(name).one()
    reports, indices = m.privatize(np.asarray(m.domain.all_labels() * 5), seed=2).data, np.arange(m.k)
    if m.two_level is not None:
        assert (Definition.supported(m, reports, indices) == m.supported(reports, indices)).all()
    else:
        assert Definition.supported(m, reports, indices).shape == m.supported(reports, indices).shape


@pytest.mark.parametrize("name", PUBLIC)
def test_public_parts_are_drawn_without_the_value(name: str) -> None:
    m = cases.of(name).one()
    label = m.domain.all_labels()[0]
    public = m.public_part(m.privatize([label] * 50, seed=3).data)
    assert public is not None
    assert public.min() >= 0
    assert cases.of("grr").one().public_part(np.zeros(3, np.uint32)) is None

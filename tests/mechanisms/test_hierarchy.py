"""The class hierarchy stays shallow: see docs/decisions/class-hierarchy.md."""

from __future__ import annotations

import pytest

import deniable as dn
from deniable.mechanisms.catalogue import CLASSES
from deniable.mechanisms.registry import load_class

MOST = 5


@pytest.mark.parametrize("name", CLASSES)
def test_at_most_five_project_classes_stand_in_a_chain(name: str) -> None:
    chain = [cls.__name__ for cls in load_class(name).__mro__ if cls.__module__.startswith("deniable.")]
    assert len(chain) <= MOST, chain


def test_only_the_constructor_sets_fields() -> None:
    m = dn.mechanism("csr", k=30, epsilon=1.0)
    before = dict(vars(m))
    m.estimate(m.summarize(m.privatize([0, 1, 2], seed=1)))
    assert {name: vars(m)[name] for name in before} == before

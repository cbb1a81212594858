"""Pickles and copies carry what defines an object, and nothing that was computed from it."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import deniable as dn
from deniable.core.domain.open import Open
from deniable.mechanisms.base.mechanism import Mechanism
from tests.contract import cases


def use(m: Mechanism) -> dn.Estimate:
    """Take a mechanism through every step that computes something once."""
    reports = m.privatize([m.domain.label(user % m.k) for user in range(200)])
    summary = m.summarize(m.decode_many(m.encode_many(reports)))
    found = [m.estimate(summary, method) for method in m.methods]
    m.privatize_one(m.domain.label(0))
    m.guarantee()
    m.variance()
    return found[0]


@pytest.mark.parametrize("name", dn.list_mechanisms())
def test_a_mechanism_in_use_pickles_to_the_bytes_of_a_fresh_one(name: str) -> None:
    m = cases.of(name).one()
    assert not isinstance(m.domain, Open)
    before = pickle.dumps(dn.from_spec(m.spec.to_json()))
    used = dn.from_spec(m.spec.to_json())
    answer = use(used)
    after = pickle.dumps(used)
    assert len(after) <= len(before)
    for again in (pickle.loads(after), copy.copy(used), copy.deepcopy(used)):
        assert (again, again.fingerprint, again.thresholds) == (used, used.fingerprint, used.thresholds)
        assert hash(again) == hash(used)
        seeded = [each.privatize([used.domain.label(0)] * 20, seed=3) for each in (again, used)]
        assert seeded[0] == seeded[1]
        # not even the copy knows what was computed
        assert set(vars(copy.copy(used))) == set(vars(pickle.loads(before)))
    size = len(pickle.dumps(answer))
    low, high = answer.interval()
    answer.top(3)
    assert len(pickle.dumps(answer)) <= size
    assert np.array_equal(pickle.loads(pickle.dumps(answer)).interval()[0], low)
    assert np.array_equal(copy.deepcopy(answer).interval()[1], high)


def test_domains_and_specs_pickle_their_fields_only() -> None:
    domain = dn.Domain.categories([f"label {i}" for i in range(1000)])
    fresh = len(pickle.dumps(domain))
    domain.indices(["label 3", "label 5"])
    assert len(pickle.dumps(domain)) == fresh
    assert pickle.loads(pickle.dumps(domain)) == domain
    assert pickle.loads(pickle.dumps(domain)).index("label 7") == 7
    spec = dn.mechanism("grr", domain=domain, epsilon=1.0).spec
    assert spec.fingerprint == pickle.loads(pickle.dumps(spec)).fingerprint
    protocol = dn.HeavyHitters.new(epsilon=4.0)
    fresh = len(pickle.dumps(protocol))
    protocol.summarize(protocol.privatize(["a"] * 50))
    assert len(pickle.dumps(protocol)) == fresh
    assert pickle.loads(pickle.dumps(protocol)).fingerprint == protocol.fingerprint

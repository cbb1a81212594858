"""Local hashing: what is sent under an id, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import deniable as dn
from tests.contract import checks as contract
from tests.mechanisms.hashing.local import CLASSES, hashing
from tests.naive import hashing as naive_hashes

SEED = 2718


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_survives_its_bytes_and_belongs_to_its_id(name: str) -> None:
    m = hashing(name, 1000, 2.0)
    for i in range(20):
        report_id = f"report {i}".encode()
        report = m.privatize_for(i, report_id)
        data = m.encode_class(report, report_id)
        assert len(data) == 1
        assert m.decode_class(data, report_id) == report
        assert report.payload // m.g == m.public_coin(report_id)
    with pytest.raises(dn.MalformedReport, match="made under the id"):
        m.encode_class(report, b"another")
    with pytest.raises(dn.MalformedReport):
        m.decode_class(bytes([m.g]), report_id)


@pytest.mark.parametrize("name", CLASSES)
def test_reports_made_for_ids_follow_the_channel(name: str) -> None:
    m, n, value = hashing(name, 4, 1.0, 2), 20_000, 3
    observed = np.zeros(m.symbols)
    for i in range(n):
        observed[m.privatize_for(value, i.to_bytes(4, "big")).payload] += 1
    expected = n * np.array([float(m.probability(payload, value)) for payload in m.layout.all()])
    assert not contract.chi_square_rejects(observed, expected)


BAD: list[tuple[str, dict[str, Any], str]] = [
    ("olh", {"g": 8}, "nearest primes are 7 and 11"),
    ("flh", {"g": 1}, "g must"),
    ("olh", {"g": 2.0}, "g must"),
    ("flh", {"g": "7"}, "g must"),
    ("olh", {"g": 46_349}, "flh, which has fewer seeds"),
    ("flh", {"k": 2**30, "g": 2_000_003}, "Give a smaller g, or use csr"),
    ("blh", {"k": 2**30 + 1}, "be at most 1073741824 for blh"),
    ("blh", {"g": 2}, "be known to blh"),
    ("olh", {"salt": 7}, "salt"),
    ("olh", {"k": 100_000, "epsilon": 20.0}, "Use flh, which has fewer seeds"),
    ("olh", {"k": 22_000, "epsilon": 8.0}, "Use grr or ss, or give g"),
    ("olh", {"k": 2**24, "epsilon": 5.0}, "be smaller for olh"),
]


@pytest.mark.parametrize(("name", "setting", "said"), BAD, ids=str)
def test_a_setting_that_cannot_be_served_is_refused_with_advice(name: str, setting: dict[str, Any], said: str) -> None:
    with pytest.raises(dn.InvalidArgument, match=said) as caught:
        dn.mechanism(name, **{"k": 25, "epsilon": 1.0, **setting})
    assert "\n" not in str(caught.value)


def test_large_domains_hash_as_small_ones_do() -> None:
    for name, k, epsilon in (("blh", 2**30, 1.0), ("flh", 2**24, 2.0), ("olh", 2**24, 1.0), ("flh", 22_000, 10.0)):
        m = hashing(name, k, epsilon)
        contract.check_batch_equals_one_by_one(m, SEED)
        for place in (0, 1, m.publics // 2, m.publics - 1):
            for x in (0, 1, k - 1):
                assert m._class_under(x, place) == naive_hashes.linear_hash(x, m.seed(place), m.g, m.digits)

"""Unary reports of many values: their bits, their bytes, their counts."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np
import pytest

import deniable as dn
from deniable.mechanisms.unary.unary_encoding import UnaryEncoding
from tests.contract import checks as contract
from tests.naive import unary as naive_bits

FORMS = [dn.OptimizedUnaryEncoding, dn.SymmetricUnaryEncoding]

Form = type[UnaryEncoding]


@pytest.mark.parametrize("k", [63, 64, 65, 128, 130])
@pytest.mark.parametrize("form", FORMS)
def test_reports_of_several_words(form: Form, k: int, seed: int) -> None:
    m = form(k, 1.0)
    contract.check_batch_equals_one_by_one(m, seed)
    contract.check_one_value_changes_one_report(m, seed)
    reports = m.privatize(np.arange(k), seed=seed)
    assert reports.data.shape == (k, math.ceil(k / 64))
    assert m.summarize(reports).counts.tolist() == naive_bits.count_bits(reports.data.tolist(), [0] * k)
    assert dn.Reports.from_arrow(reports.to_arrow()) == reports
    sent = m.privatize_one(k - 1)
    data = m.encode(sent)
    batch = m.privatize(np.arange(k))
    assert m.encode_many(batch) == [m.encode(batch[i]) for i in range(k)]
    assert m.decode_many(m.encode_many(batch)) == batch
    assert len(data) == math.ceil(k / 8)
    assert m.decode(data) == sent
    assert {8 * place + b for place, byte in enumerate(data) for b in range(8) if byte >> b & 1} == naive_bits.bits_of(
        sent.payload
    )


@pytest.mark.parametrize("form", FORMS)
def test_the_values_bit_follows_its_own_coin_in_every_place_of_a_long_report(form: Form, seed: int) -> None:
    k, n = 150, 40_000
    m = form(k, 2.0)
    for value in (0, 63, 64, 127, 128, 149):
        counts = m.summarize(m.privatize(np.full(n, value), seed=seed)).counts
        chances = np.full(k, float(m.channel.q))
        chances[value] = float(m.channel.p)
        assert (np.abs(counts - n * chances) <= 6.2 * np.sqrt(n * chances * (1 - chances))).all()


def test_two_bits_of_a_report_are_independent(seed: int) -> None:
    # correlation of neighbouring bits, of bits a word apart, and of the value's bit with the others
    m, n = dn.mechanism("oue", k=130, epsilon=1.0), 40_000
    rows = m.privatize(np.full(n, 5), seed=seed).data
    tossed = np.unpackbits(rows.view(np.uint8), axis=1, bitorder="little")[:, :130].astype(float)
    correlations = np.corrcoef(tossed.T)[~np.eye(130, dtype=bool)]
    assert np.abs(correlations).max() <= 7 / math.sqrt(n)


@pytest.mark.parametrize("name", ["oue", "sue", "the", "orappor"])
def test_one_report_of_millions_of_values_takes_time_linear_in_them(name: str) -> None:
    m = dn.mechanism(name, k=2**24, epsilon=1.0)
    start = time.process_time()
    m.privatize_one(2**23)
    # a twentieth of a second; where each word is cut from the whole report, it is most of a minute
    assert time.process_time() - start < 5


@pytest.mark.soak
@pytest.mark.parametrize("name", ["oue", "sue", "the", "orappor", "grr", "csr", "clh", "hr", "rhr", "orr", "olh"])
def test_one_report_of_millions_of_values_takes_a_tenth_of_a_second(
    name: str, record_property: Callable[[str, object], None]
) -> None:
    m = dn.mechanism(name, k=2**24, epsilon=1.0)
    m.privatize_one(0)  # loads code
    taken = []
    for value in (0, 2**23, 2**24 - 1):
        start = time.process_time()
        m.privatize_one(value)
        taken.append(time.process_time() - start)
    record_property("figure", f"{name}, k = 2^24: one report in {1000 * min(taken):.2f} ms")
    assert min(taken) < 0.1


def test_a_report_may_be_empty() -> None:
    m = dn.mechanism("oue", k=70, epsilon=1.0)
    nothing = dn.Report((0, 0), m.fingerprint)
    assert m.decode(m.encode(nothing)) == nothing
    assert m.summarize(np.zeros((3, 2), np.uint64)).counts.sum() == 0


def test_a_quadrillion_users_are_simulated_without_reports(seed: int) -> None:
    m = dn.mechanism("oue", k=1000, epsilon=1.0)
    summary = dn.simulate(m, np.full(1000, 10**12), seed=seed)
    f = m.estimate(summary, "unbiased").frequencies
    assert (np.abs(f - 0.001) <= 6 * math.sqrt(m.variance(0.001, 10**15))).all()

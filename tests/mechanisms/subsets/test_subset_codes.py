"""The bytes of a subset: as short as can be, one code for each, the same from device and server."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import deniable as dn
from deniable.kernels.subsets import encode_subsets
from deniable.mechanisms.layouts.subset_code import decode_subset


def made(k: int, epsilon: float, **parameters: int) -> dn.SubsetSelection:
    m = dn.mechanism("ss", k=k, epsilon=epsilon, **parameters)
    assert isinstance(m, dn.SubsetSelection)
    return m


@pytest.mark.parametrize(("k", "w"), [(12, 6), (17, 3), (16, 15), (11, 1)])
def test_exactly_as_many_byte_strings_are_accepted_as_there_are_sets(k: int, w: int) -> None:
    m = made(k, 1.0, w=w)
    accepted = 0
    for number in range(256**m.layout.code_size):
        data = number.to_bytes(m.layout.code_size, "big")
        row = decode_subset(data, k, w)
        if row is not None:
            accepted += 1
            assert m.layout.pack(tuple(row)) == data
    assert accepted == m.layout.reports == len(list(m.layout.all()))


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 2.0, 4.0, 10.0])
@pytest.mark.parametrize("k", [2, 16, 100, 1024, 22_000, 2**20])
def test_a_code_exceeds_the_information_bound_by_one_byte_at_most(k: int, epsilon: float) -> None:
    m = made(k, epsilon)
    assert m.report_bits == (m.layout.reports - 1).bit_length()
    assert -(-m.report_bits // 8) <= m.layout.code_size <= -(-m.report_bits // 8) + 1


@pytest.mark.parametrize(("k", "epsilon"), [(1024, 2.0), (22_000, 2.0), (300, 0.1), (256, 8.0)])
def test_many_codes_are_those_made_one_by_one(k: int, epsilon: float, rng: np.random.Generator) -> None:
    m = made(k, epsilon)
    reports = m.privatize(rng.integers(0, k, 80))
    codes = m.encode_many(reports)
    assert [len(code) for code in codes] == [m.layout.code_size] * 80
    assert m.decode_many(codes) == reports
    for i in range(3):
        assert m.encode(reports[i]) == codes[i]
        assert m.decode(codes[i]) == reports[i]
    assert m.encode_many(reports[:3]) == codes[:3]
    assert m.decode_many([]) == m.privatize([])


@pytest.mark.parametrize("w", [1, 2, 1000, 2**19, 2**20 - 1])
def test_the_largest_domain_has_room_for_the_first_and_the_last_set(w: int) -> None:
    m = made(2**20, 1e-3, w=w)
    for first in (0, 2**20 - w, (2**20 - w) // 2):
        bits = np.zeros(2**20, np.uint8)
        bits[first : first + w] = 1
        rows = np.packbits(bits, bitorder="little").view("<u8").astype(np.uint64)[np.newaxis]
        code = np.empty((1, m.layout.code_size), np.uint8)
        encode_subsets(rows, m.k, w, 0, code)
        assert m.decode(code.tobytes()).payload == tuple(rows[0].tolist())


def test_bytes_that_are_no_code_are_refused_by_position() -> None:
    m = made(1024, 2.0)
    good = m.encode_many(m.privatize(np.arange(70)))
    for bad in (b"", good[0][:-1], good[0] + b"\0", b"\xff" * m.layout.code_size):
        with pytest.raises(dn.MalformedReport, match="position 2"):
            m.decode_many([*good[:2], bad, *good[3:]])
        with pytest.raises(dn.MalformedReport):
            m.decode(bad)


def test_random_bytes_of_the_right_length_decode_to_themselves_or_are_refused(rng: np.random.Generator) -> None:
    m = made(1000, 1.5)
    accepted = 0
    for _ in range(2000):
        data = rng.bytes(m.layout.code_size)
        try:
            report = m.decode(data)
        except dn.MalformedReport:
            continue
        accepted += 1
        assert m.encode_many(dn.Reports(np.array([report.payload], np.uint64), m.fingerprint)) == [data]
    assert 0.5 < accepted / 2000 / (m.layout.reports / 256**m.layout.code_size) < 2


def test_batches_that_must_not_be_sent_are_refused() -> None:
    m = made(5, 1.0)
    with pytest.raises(dn.SimulatedReport):
        m.encode_many(m.privatize([1], seed=1))
    with pytest.raises(dn.FingerprintMismatch):
        m.encode_many(made(5, 1.1).privatize([1]))


def test_a_device_needs_no_compiler() -> None:
    program = """
import sys, deniable as dn
m = dn.mechanism("ss", k=2000, epsilon=1.0)
m.encode(m.privatize_one(17))
small = dn.mechanism("ss", k=200, epsilon=1.0)
assert small.decode(small.encode(small.privatize_one(3))).payload
assert not {"numba", "scipy", "pyarrow"} & sys.modules.keys()
"""
    subprocess.run([sys.executable, "-c", program], check=True)

"""Reports survive their bytes, and bytes that are no report are refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

import deniable as dn
from deniable.mechanisms.base.mechanism import Mechanism
from tests.contract import cases


def check_encoding_round_trips(m: Mechanism, overhead: int = 0) -> None:
    bits = m.report_bits + cases.of(m.name).public_bits(m)
    codes = []
    for payload in m.layout.all():
        data = m.encode(dn.Report(payload, m.fingerprint))
        assert m.decode(data) == dn.Report(payload, m.fingerprint)
        assert len(data) <= -(-bits // 8) + overhead
        codes.append(data)
    assert len(set(codes)) == len(codes), "two reports must not share their bytes"
    assert bits >= math.log2(len(codes)) - 1e-9
    check_batches_have_the_same_bytes(m, codes)


def check_batches_have_the_same_bytes(m: Mechanism, codes: list[bytes]) -> None:
    reports = dn.Reports(m.layout.check(np.array(list(m.layout.all()))), m.fingerprint)
    assert m.encode_many(reports) == codes
    assert m.encode_joined(reports) == b"".join(codes)
    assert m.decode_many(codes) == m.decode_joined(b"".join(codes)) == reports
    assert m.decode_many([memoryview(code) for code in codes]) == reports
    assert len(m.decode_many([])) == len(m.decode_joined(b"")) == 0
    for length in (len(codes[0]) - 1, len(codes[0]) + 1):
        with pytest.raises(dn.MalformedReport, match="position 1"):
            m.decode_many([codes[0], bytes(length), codes[0]])


def check_bytes_decode_or_are_refused(m: Mechanism, data: bytes) -> None:
    good = m.encode(dn.Report(next(iter(m.layout.all())), m.fingerprint))
    try:
        report = m.decode(data)
    except dn.MalformedReport:
        with pytest.raises(dn.MalformedReport, match="position 1"):
            m.decode_many([good, data, good])
        return
    assert report.payload in set(m.layout.all())
    assert m.encode(report) == data
    assert m.decode_many([good, data])[1] == report

"""Reports survive their bytes, and bytes that are no report are refused."""

from __future__ import annotations

import math

import deniable as dn
from deniable.mechanisms.base.mechanism import Mechanism
from tests.contract import cases


def check_encoding_round_trips(m: Mechanism, overhead: int = 0) -> None:
    bits = m.report_bits + cases.of(m.name).public_bits(m)
    seen = set()
    for payload in m.layout.all():
        data = m.encode(dn.Report(payload, m.fingerprint))
        assert m.decode(data) == dn.Report(payload, m.fingerprint)
        assert len(data) <= -(-bits // 8) + overhead
        seen.add(data)
    assert len(seen) == len(list(m.layout.all())), "two reports must not share their bytes"
    assert bits >= math.log2(len(seen)) - 1e-9


def check_bytes_decode_or_are_refused(m: Mechanism, data: bytes) -> None:
    try:
        report = m.decode(data)
    except dn.MalformedReport:
        return
    assert report.payload in set(m.layout.all())
    assert m.encode(report) == data

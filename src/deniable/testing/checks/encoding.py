"""Reports survive their bytes, and bytes that are no report are refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from deniable.core.errors import MalformedReport
from deniable.core.reports import Report, Reports
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.testing.expectations import refused, require, require_equal
from deniable.testing.traits import USUAL, Traits


def check_encoding_round_trips(m: Mechanism, overhead: int = 0, traits: Traits = USUAL) -> None:
    """Every report survives its bytes, alone and in a batch; no two share them, and none takes more than stated."""
    bits = m.report_bits + traits.public_bits(m)
    codes = []
    for payload in m.layout.all():
        data = m.encode(Report(payload, m.fingerprint))
        require_equal(m.decode(data), Report(payload, m.fingerprint), "what was encoded")
        most = -(-bits // 8) + overhead
        require(len(data) <= most, f"a report of {bits} bits must take at most {most} bytes, got {len(data)}")
        codes.append(data)
    require(len(set(codes)) == len(codes), "two reports must not share their bytes")
    require(bits >= math.log2(len(codes)) - 1e-9, f"{bits} bits cannot tell {len(codes)} reports apart")
    check_batches_have_the_same_bytes(m, codes)


def check_batches_have_the_same_bytes(m: Mechanism, codes: list[bytes]) -> None:
    """Batches are encoded as their reports are, and decoded to the same."""
    reports = Reports(m.layout.check(np.array(list(m.layout.all()))), m.fingerprint)
    require(m.encode_many(reports) == codes, "encode_many must make the bytes of encode")
    require(m.encode_joined(reports) == b"".join(codes), "encode_joined must make the bytes of encode")
    require(m.decode_many(codes) == m.decode_joined(b"".join(codes)) == reports, "batches must survive their bytes")
    buffers: list[Any] = [memoryview(code) for code in codes]
    require(m.decode_many(buffers) == reports, "decode_many must take any buffers")
    require(len(m.decode_many([])) == len(m.decode_joined(b"")) == 0, "no bytes must be no reports")
    for length in (len(codes[0]) - 1, len(codes[0]) + 1):
        with refused(MalformedReport, "position 1", f"a report of {length} bytes"):
            m.decode_many([codes[0], bytes(length), codes[0]])


def check_bytes_decode_or_are_refused(m: Mechanism, data: bytes) -> None:
    """Any bytes are those of one report, or are refused as malformed."""
    good = m.encode(Report(next(iter(m.layout.all())), m.fingerprint))
    try:
        report = m.decode(data)
    except MalformedReport:
        with refused(MalformedReport, "position 1", f"the bytes {data!r} in a batch"):
            m.decode_many([good, data, good])
        return
    require(report.payload in set(m.layout.all()), f"the bytes {data!r} must be refused: they are no report")
    require_equal(m.encode(report), data, "the bytes of a report that was decoded")
    require_equal(m.decode_many([good, data])[1], report, f"the bytes {data!r} in a batch")


def check_many_bytes_decode_or_are_refused(m: Mechanism, seed: int) -> None:
    """Random bytes of lengths up to two more than a report's are those of a report, or are refused as malformed."""
    rng = np.random.default_rng(seed)
    for length in range(m.layout.code_size + 3):
        for data in {rng.bytes(length) for _ in range(64)}:
            check_bytes_decode_or_are_refused(m, data)

"""Reports as bytes: many at a time beside np.frombuffer and a copy, and one large subset."""

from __future__ import annotations

from functools import partial

import numpy as np

import deniable as dn
from benchmarks.clock import medians
from benchmarks.data import uniform_values
from benchmarks.goals import OURS, AtMost, Measured, timed
from benchmarks.registry import Bench, Row

REPORTS = 1_000_000
NS, MS = 1e-9, 1e-3
LIST = "bytes of each"  # what making a list of bytes objects costs by itself
BUFFER = "np.frombuffer"


def encode_many(_: Bench, name: str, k: int) -> Measured:
    """A list of payloads, beside one that is cut from bytes by a slice each."""
    m = dn.mechanism(name, k=k, epsilon=1.0)
    reports = m.privatize(uniform_values(k, REPORTS))
    joined, size = m.encode_joined(reports), m.layout.code_size
    jobs = {
        OURS: lambda: m.encode_many(reports),
        LIST: lambda: [joined[start : start + size] for start in range(0, len(joined), size)],
    }
    return timed(medians(jobs), per=REPORTS)


def decode_many(_: Bench, joined: bool, name: str = "csr", k: int = 1000) -> Measured:
    """Checked reports from payloads, in a list or end to end, beside np.frombuffer of them without a check."""
    m = dn.mechanism(name, k=k, epsilon=1.0)
    reports = m.privatize(uniform_values(k, REPORTS))
    listed, whole = m.encode_many(reports), m.encode_joined(reports)
    jobs = {
        OURS: (lambda: m.decode_joined(whole)) if joined else (lambda: m.decode_many(listed)),
        BUFFER: lambda: np.frombuffer(whole if joined else b"".join(listed), ">u2").astype(np.uint32),
    }
    return timed(medians(jobs), per=REPORTS)


def one_subset(_: Bench, k: int) -> Measured:
    """One encoded report of subset selection, in a process that has compiled its loops."""
    m = dn.mechanism("ss", k=k, epsilon=1.0)
    report = m.privatize(uniform_values(k, 100))[0]
    return timed(medians({OURS: lambda: m.encode(report)}))


ROWS = (
    *(
        Row(f"encode_many, {name}, k=1000", partial(encode_many, name=name, k=1000), (AtMost(50 * NS, beside=LIST),))
        for name in ("grr", "csr", "clh")
    ),
    Row(
        "decode_many, csr, k=1000",
        partial(decode_many, name="csr", k=1000, joined=False),
        (AtMost(100 * NS, beside=BUFFER),),
    ),
    Row(
        "decode_joined, csr, k=1000",
        partial(decode_many, name="csr", k=1000, joined=True),
        (AtMost(5 * NS, beside=BUFFER),),
    ),
    Row("SS encode, one report, k=22000", partial(one_subset, k=22_000), (AtMost(MS),)),
)

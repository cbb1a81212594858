"""The device's half of every mechanism: from values to reports, and from a report to bytes."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np

from deniable.core.arrays import Counts, Indices, Payloads
from deniable.core.errors import MalformedReport, SimulatedReport
from deniable.core.reports import Report, Reports
from deniable.mechanisms.base.definition import Definition, Payload
from deniable.randomness.choices import Choices
from deniable.randomness.keystream import KEY_BYTES, Keystream

FEW = 64  # batches up to this size take the plain path, which loads no compiler
_BATCH, _BATCH_BYTES = 2**18, 2**26  # users simulated at once, and the room their reports may take
_CHUNK_WORDS = 2**17  # words per kernel call: they stay in the processor's cache


def one_row(payload: Payload) -> Payloads:
    """A batch of one payload, unchecked. By itself NumPy makes floats of words on both sides of 2^63."""
    row = np.array([payload])
    if row.dtype.kind == "f" and isinstance(payload, tuple) and all(isinstance(word, int) for word in payload):
        with suppress(OverflowError):  # then they stay floats, and are refused
            row = np.array([payload], np.uint64)
    return row


class Client(Definition):
    """Randomise, encode, decode."""

    def privatize(self, values: Any, *, seed: int | None = None) -> Reports:
        """Reports of a batch of values, one per person, with fresh secure randomness.

        Two calls on one person's value compose: their epsilons add up, so ask once, or keep the report and
        send it again. With a seed the reports repeat, are marked simulated and protect nobody.
        """
        indices = self.domain.indices(values)
        keystream = Keystream.fresh() if seed is None else Keystream.seeded(seed)
        return Reports(self.payloads(indices, keystream), self.fingerprint, keystream.simulated)

    def privatize_one(self, value: object) -> Report:
        """The report of one person, in plain Python: what a device runs."""
        index = self.domain.index(value)
        keystream = Keystream.fresh()
        words = keystream.stream(0).words(self.stride).tolist()
        return Report(self.randomize_one(index, Choices(words, keystream.overflow(0))), self.fingerprint)

    def payloads(self, indices: Indices, keystream: Keystream) -> Payloads:
        """The reports of these indices from this keystream; the same one by one and by the kernel."""
        return self._one_by_one(indices, keystream) if len(indices) <= FEW else self._in_chunks(indices, keystream)

    def _one_by_one(self, indices: Indices, keystream: Keystream) -> Payloads:
        out = self.empty_payloads(len(indices))
        stream = keystream.stream(0)
        for i, index in enumerate(indices.tolist()):
            words = stream.words(self.stride).tolist()
            out[i] = self.randomize_one(index, Choices(words, keystream.overflow(i)))
        return out

    def _in_chunks(self, indices: Indices, keystream: Keystream) -> Payloads:
        out = self.empty_payloads(len(indices))
        stream, stride = keystream.stream(0), self.stride
        chunk = max(1, _CHUNK_WORDS // stride)
        buffer = np.empty(stride * chunk + 2, np.uint64)
        zeros = memoryview(bytes(8 * stride * chunk))
        for start in range(0, len(indices), chunk):
            part = slice(start, min(start + chunk, len(indices)))
            words = buffer[: stride * (part.stop - start)]
            stream.fill(zeros[: 8 * len(words)], buffer)
            for i in self.randomize(indices[part], words, out[part]).tolist():
                own = words[i * stride : (i + 1) * stride].tolist()
                choices = Choices(own, keystream.overflow(start + i))
                out[start + i] = self.randomize_one(int(indices[start + i]), choices)
        return out

    def simulated_counts(self, true_counts: Counts, generator: np.random.Generator) -> Counts:
        """Counts of a summary of users with these true counts: their reports are made in batches and counted."""
        counts = np.zeros(self.cells, np.int64)
        ends = np.cumsum(true_counts)
        batch = min(_BATCH, max(1, _BATCH_BYTES // self.empty_payloads(1).nbytes))
        for start in range(0, int(ends[-1]), batch):
            users = np.arange(start, min(start + batch, int(ends[-1])))
            keystream = Keystream(generator.bytes(KEY_BYTES), simulated=True)
            self.accumulate(self.payloads(np.searchsorted(ends, users, side="right"), keystream), counts)
        return counts

    def encode(self, report: Report) -> bytes:
        """The payload of one report as bytes; simulated reports are refused."""
        if not isinstance(report, Report):
            raise MalformedReport(f"encode takes one Report, got {type(report).__name__}")
        if report.simulated:
            raise SimulatedReport("a report made with a seed protects nobody and must not be sent")
        return self._pack(self._payload(report))

    def decode(self, data: bytes) -> Report:
        """The report in these bytes, checked."""
        return Report(self._unpack(as_bytes(data)), self.fingerprint)

    def encode_many(self, reports: Reports) -> list[bytes]:
        """The payloads of a batch as bytes, the same as one by one; simulated reports are refused."""
        if not isinstance(reports, Reports):
            raise MalformedReport(f"encode_many takes Reports, got {type(reports).__name__}")
        if reports.simulated:
            raise SimulatedReport("a report made with a seed protects nobody and must not be sent")
        self._same_spec("a batch of reports", reports.fingerprint)
        return self._pack_many(self.check_payloads(reports.data))

    def decode_many(self, data: Iterable[bytes]) -> Reports:
        """The batch of reports in these bytes, all of them checked."""
        return Reports(self._unpack_many([as_bytes(one) for one in data]), self.fingerprint)

    def _pack_many(self, rows: Payloads) -> list[bytes]:
        return [self._pack(tuple(row) if isinstance(row, list) else row) for row in rows.tolist()]

    def _unpack_many(self, data: list[bytes]) -> Payloads:
        out = self.empty_payloads(len(data))
        for place, one in enumerate(data):
            out[place] = self._unpack(one)
        return out

    def probability(self, report: Report | Payload, value: object) -> Fraction:
        """Pr[report | value], exactly."""
        payload = self._payload(report) if isinstance(report, Report) else report
        self.check_payloads(one_row(payload))
        return self._probability(payload, self.domain.index(value))

    def _payload(self, report: Report) -> Payload:
        self._same_spec("a report", report.fingerprint)
        return report.payload


def as_bytes(data: object) -> bytes:
    """Bytes as they came over the wire; bytes(5) would be five zeros."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise MalformedReport(f"an encoded report must be bytes, got {type(data).__name__}")
    return bytes(data)

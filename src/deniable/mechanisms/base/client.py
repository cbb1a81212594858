"""The device's half of every mechanism: reports from a keystream, one by one or by a kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable import kernels
from deniable.core.arrays import Counts, Indices, Payloads, Words
from deniable.core.batches import slices
from deniable.core.errors import MalformedReport
from deniable.core.reports import Report, Reports
from deniable.core.threads import share, workers
from deniable.randomness.choices import Choices
from deniable.randomness.keystream import KEY_BYTES, Keystream

if TYPE_CHECKING:
    from deniable.mechanisms.base.definition import Definition

FEW = 64  # batches up to this size take the plain path
_OVERHEAD = 10  # steps of plain Python per report, besides one per word
CHUNK_WORDS = 2**17  # words per kernel call: they stay in the processor's cache
_CHUNKS = 8  # kernel calls in a piece that one thread makes
LARGE_WORDS = 2**21  # words of a batch from which threads pay
_SIMULATED = 2**18  # users simulated at once


def randomized(kernel: Callable[..., int], indices: Indices, words: Words, *numbers: Any, out: Payloads) -> Indices:
    """Run a kernel on a batch; return the positions of reports with a rejected draw."""
    again = np.empty(len(indices), np.bool_)
    count = kernel(indices, words, *numbers, again, out)
    return np.flatnonzero(again) if count else np.empty(0, np.int64)


def payloads(mechanism: Definition, indices: Indices, keystream: Keystream) -> Payloads:
    """Randomise these indices with this keystream; plain Python and the kernel make the same reports."""
    steps = len(indices) * (mechanism.stride + _OVERHEAD)
    make = in_chunks if len(indices) > FEW and kernels.pay_for(steps) else one_by_one
    return make(mechanism, indices, keystream)


def one_by_one(mechanism: Definition, indices: Indices, keystream: Keystream) -> Payloads:
    """Randomise in plain Python."""
    out = mechanism.layout.empty(len(indices))
    stream, stride = keystream.stream(0), mechanism.stride
    for i, index in enumerate(indices.tolist()):
        out[i] = mechanism.randomize_one(index, Choices(stream.words(stride), keystream.overflow(i)))
    return out


def in_chunks(mechanism: Definition, indices: Indices, keystream: Keystream) -> Payloads:
    """Randomise by the kernel, a chunk of words at a time; redraw reports with a rejected draw one by one.

    Threads share a large batch. Whoever makes a report, its words are its own, so the reports are the same.
    """
    out = mechanism.layout.empty(len(indices))
    stride = mechanism.stride
    chunk = max(1, CHUNK_WORDS // stride)

    def make(pieces: Iterable[slice]) -> None:
        buffer = np.empty(stride * chunk + 2, np.uint64)
        zeros = memoryview(bytes(8 * stride * chunk))
        for piece in pieces:
            stream = keystream.stream(0, piece.start * stride)
            for start in range(piece.start, piece.stop, chunk):
                part = slice(start, min(start + chunk, piece.stop))
                words = buffer[: stride * (part.stop - start)]
                stream.fill(zeros[: 8 * len(words)], buffer)
                for i in mechanism.randomize(indices[part], words, out[part]).tolist():
                    own = words[i * stride : (i + 1) * stride]
                    choices = Choices(own, keystream.overflow(start + i))
                    out[start + i] = mechanism.randomize_one(int(indices[start + i]), choices)

    threads = workers() if len(indices) * stride >= LARGE_WORDS else 1
    if threads == 1:
        make([slice(0, len(indices))])
    else:
        first, *rest = slices(len(indices), 0, most=_CHUNKS * chunk)
        make([first])  # which compiles the kernel, and computes what the mechanism keeps
        share(make, rest, threads)
    return out


def simulated_one_by_one(mechanism: Definition, true_counts: Counts, generator: np.random.Generator) -> Counts:
    """Simulate a summary's counts by making every user's report, in batches."""
    layout = mechanism.layout
    counts = np.zeros(layout.cells, np.int64)
    ends = np.cumsum(true_counts)
    for part in slices(int(ends[-1]), layout.row_bytes, most=_SIMULATED):
        users = np.arange(part.start, part.stop)
        keystream = Keystream(generator.bytes(KEY_BYTES), simulated=True)
        layout.count(payloads(mechanism, np.searchsorted(ends, users, side="right"), keystream), counts)
    return counts


def check_sendable(report: object, kind: type[Report] | type[Reports], call: str) -> None:
    """Refuse anything but reports of this kind, and refuse simulated ones."""
    from deniable.core.errors import SimulatedReport

    if not isinstance(report, kind):
        what = "one Report" if kind is Report else "Reports"
        raise MalformedReport(f"{call} takes {what}, got {type(report).__name__}")
    if report.simulated:
        raise SimulatedReport("a report made with a seed protects nobody and must not be sent")

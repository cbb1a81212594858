"""Mechanisms with one fault each, which make reports by NumPy: what trials must catch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

import deniable as dn
from deniable.core.arrays import Indices, Payloads
from deniable.core.reports import Report, Reports
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.hadamard.recursive_hadamard import RecursiveHadamardResponse
from deniable.mechanisms.hashing.cyclotomic_hashing import CyclotomicLocalHashing
from deniable.mechanisms.hashing.local_hashing import OptimizedLocalHashing
from deniable.randomness.keystream import Keystream


def generator(keystream: Keystream) -> np.random.Generator:
    """Fast randomness from a fresh keystream."""
    return np.random.default_rng(keystream.stream(0).words(4).tolist())


def unary(indices: Indices, k: int, p: Any, q: float, rng: np.random.Generator, kept: bool = False) -> Payloads:
    """Rows of bits, one word each: the own bit with p, all others with q; `kept` leaves the bit of the noise."""
    bits = rng.random((len(indices), k)) < q
    places = np.arange(len(indices))
    own = rng.random(len(indices)) < p
    bits[places, indices] = bits[places, indices] | own if kept else own
    return (bits @ (np.uint64(1) << np.arange(k, dtype=np.uint64)))[:, np.newaxis]


class Swapped(dn.OptimizedUnaryEncoding):
    """p and q are exchanged."""

    def payloads(self, indices: Indices, keystream: Keystream) -> Payloads:
        return unary(indices, self.k, float(self.channel.q), float(self.channel.p), generator(keystream))


class Kept(dn.OptimizedUnaryEncoding):
    """The own bit is not cleared before its coin: the published fault of an OUE client."""

    def payloads(self, indices: Indices, keystream: Keystream) -> Payloads:
        p, q = float(self.channel.p), float(self.channel.q)
        return unary(indices, self.k, p, q, generator(keystream), kept=True)


class NeverFlipped(dn.SymmetricUnaryEncoding):
    """A bit that is one stays one."""

    def payloads(self, indices: Indices, keystream: Keystream) -> Payloads:
        return unary(indices, self.k, 1.0, float(self.channel.q), generator(keystream))


class LastBitBare(dn.OptimizedUnaryEncoding):
    """The last bit has no coin."""

    def payloads(self, indices: Indices, keystream: Keystream) -> Payloads:
        rows, last = super().payloads(indices, keystream), np.uint64(self.k - 1)
        return rows & ~(np.uint64(1) << last) | (indices == self.k - 1).astype(np.uint64)[:, np.newaxis] << last


def other_epsilon(mechanism: Mechanism, factor: float) -> Mechanism:
    """A mechanism whose coins are those of a larger epsilon than it states."""
    made = dn.mechanism(mechanism.name, domain=mechanism.domain, epsilon=mechanism.epsilon * factor)

    class Planted(type(mechanism)):  # type: ignore[misc]
        def payloads(self, indices: Indices, keystream: Keystream) -> Payloads:
            return made.payloads(indices, keystream)

    return Planted(mechanism.domain, mechanism.epsilon)


class FewerReplacements(dn.RandomizedResponse):
    """The threshold is computed for k - 1 values."""

    def payloads(self, indices: Indices, keystream: Keystream) -> Payloads:
        rng, e = generator(keystream), np.exp(self.epsilon)
        truth = rng.random(len(indices)) < (e - 1) / (e - 1 + self.k - 1)
        return np.where(truth, indices, rng.integers(self.k, size=len(indices))).astype(np.uint32)


class LargerSubset(dn.SubsetSelection):
    """One value more is marked than the spec says."""

    def payloads(self, indices: Indices, keystream: Keystream) -> Payloads:
        rows = super().payloads(indices, keystream)
        return rows | (rows + np.uint64(1) & ~rows) % np.uint64(2**self.k)


class SpareIsLast(dn.SubsetSelection):
    """A set without the sender's value always holds the last one."""

    def payloads(self, indices: Indices, keystream: Keystream) -> Payloads:
        rng, n = generator(keystream), len(indices)
        truth = rng.random(n) < float(self.channel.p)
        spare = np.where(indices == self.k - 1, 0, self.k - 1)
        first = np.where(truth, indices, spare)
        order = rng.random((n, self.k))
        order[np.arange(n), first] = order[np.arange(n), indices] = 2.0
        rest = np.argsort(order, axis=1)[:, : self.w - 1]
        bits = np.uint64(1) << first.astype(np.uint64)
        return (bits | (np.uint64(1) << rest.astype(np.uint64)).sum(axis=1, dtype=np.uint64))[:, np.newaxis]


class OneTold(dn.RandomizedResponse):
    """One value is never randomised."""

    def payloads(self, indices: Indices, keystream: Keystream) -> Payloads:
        made = super().payloads(indices, keystream)
        return np.where(indices == 3, 3, made).astype(np.uint32)


class PairSwapped(dn.RandomizedResponse):
    """Two values are taken for each other."""

    def payloads(self, indices: Indices, keystream: Keystream) -> Payloads:
        turned = np.arange(self.k)
        turned[[0, 1]] = [1, 0]
        return super().payloads(turned[indices], keystream)


class SeedFromValue(OptimizedLocalHashing):
    """The parity of the value shows in the seed in a third of the reports."""

    def payloads(self, indices: Indices, keystream: Keystream) -> Payloads:
        made = super().payloads(indices, keystream)
        shown = (generator(keystream).random(len(indices)) < 0.3) & (made // self.g % 2 != indices % 2)
        return np.where(shown & (made >= self.g), made - self.g, made).astype(np.uint32)


class CohortFromValue(dn.HashedResponse):
    """The cohort follows from the value."""

    def payloads(self, indices: Indices, keystream: Keystream) -> Payloads:
        made = super().payloads(indices, keystream)
        return (indices % self.cohorts * self.buckets + made % self.buckets).astype(np.uint32)


class CoinReused(dn.RandomizedResponse):
    """Every other report uses the coin of the one before it."""

    def payloads(self, indices: Indices, keystream: Keystream) -> Payloads:
        rng, n = generator(keystream), len(indices)
        truth = np.repeat(rng.random(-(-n // 2)) < float(self.channel.gain), 2)[:n]
        return np.where(truth, indices, rng.integers(self.k, size=n)).astype(np.uint32)


class CoinsOfHalf(dn.RandomizedResponse):
    """The second half of a batch uses the coins of the first."""

    chunk: ClassVar[int] = 0

    def payloads(self, indices: Indices, keystream: Keystream) -> Payloads:
        rng, n = generator(keystream), len(indices)
        size = self.chunk or -(-n // 2)
        truth = np.resize(rng.random(size) < float(self.channel.gain), n)
        return np.where(truth, indices, rng.integers(self.k, size=n)).astype(np.uint32)


class CoinsOfChunk(CoinsOfHalf):
    """Coins come again after 4,096 reports."""

    chunk = 4096


class LevelsOff(dn.SummationHistogramEncoding):
    """Every level is one too high."""

    def payloads(self, indices: Indices, keystream: Keystream) -> Payloads:
        return np.minimum(super().payloads(indices, keystream) + 1, self.levels - 1).astype(np.uint8)


class RowZero(RecursiveHadamardResponse):
    """The sign of row r - 1 is sent for row r, that of row 0 among them."""

    def payloads(self, indices: Indices, keystream: Keystream) -> Payloads:
        made = super().payloads(indices, keystream).astype(np.int64)
        public, sent = np.divmod(made, self.classes)
        number = indices // self.blocks
        turned = (np.bitwise_count(number & public + 1) ^ np.bitwise_count(number & public)) & 1
        return (public * self.classes + (sent ^ turned)).astype(np.uint32)


class BlockBare(dn.HadamardResponse):
    """The block is always that of the value."""

    def payloads(self, indices: Indices, keystream: Keystream) -> Payloads:
        each = self.block_size - 1
        return (indices % self.blocks * each + super().payloads(indices, keystream) % each).astype(np.uint32)


class OwnNumberReveals(CyclotomicLocalHashing):
    """Where the public number is the value itself, class 0 is sent."""

    def payloads(self, indices: Indices, keystream: Keystream) -> Payloads:
        made = super().payloads(indices, keystream)
        return np.where(made // self.classes == indices, indices * self.classes, made).astype(np.uint32)


class DrawingOrder(dn.SubsetSelection):
    """The bytes list the subset in the order in which it was drawn, the sender's value first where it is held.

    The order is known where reports are made, and lost where they are decoded: a report is a set.
    """

    drawn: ClassVar[list[tuple[Payloads, Indices]]] = []

    def payloads(self, indices: Indices, keystream: Keystream) -> Payloads:
        rows = super().payloads(indices, keystream)
        self.drawn.append((rows, indices))
        return rows

    def encode_many(self, reports: Reports) -> list[bytes]:
        senders = np.full(len(reports), self.k)
        for place, (rows, indices) in enumerate(self.drawn):
            if np.array_equal(rows[: len(reports)], reports.data):
                senders = indices[: len(reports)]
                del self.drawn[place]
                break
        held = [[bit for bit in range(self.k) if row >> bit & 1] for row in reports.data[:, 0].tolist()]
        own = zip(held, senders.tolist(), strict=True)
        return [bytes(sorted(bits, key=lambda bit: bit != sender)) for bits, sender in own]

    def decode_many(self, data: Any) -> Reports:
        rows = [[sum(1 << bit for bit in code)] for code in data]
        return Reports(np.array(rows, np.uint64), self.fingerprint)


class Padded(dn.RandomizedResponse):
    """The bytes are longer for large reports."""

    def encode_many(self, reports: Reports) -> list[bytes]:
        return [code + bytes(code[-1] > self.k // 2) for code in super().encode_many(reports)]


class AlwaysSeeded(dn.RandomizedResponse):
    """The seed of a simulation is used for people."""

    def privatize(self, values: Any, *, seed: int | None = None) -> Reports:
        return super().privatize(values, seed=7 if seed is None else seed)


class AlwaysSeededUnmarked(AlwaysSeeded):
    """The same, and the reports are not marked as simulated."""

    def privatize(self, values: Any, *, seed: int | None = None) -> Reports:
        return Reports(super().privatize(values, seed=seed).data, self.fingerprint)


@dataclass(frozen=True)
class Device:
    """A device that sends an id with its report."""

    mechanism: Mechanism

    def send(self, value: int, rng: np.random.Generator) -> tuple[bytes, Report]:
        """An id of which the third byte follows from the value."""
        name = bytearray(rng.bytes(16))
        name[2] = name[2] & 0xF8 | value
        return bytes(name), self.mechanism.privatize_one(value)

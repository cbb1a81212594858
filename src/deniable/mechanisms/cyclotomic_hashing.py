"""Cyclotomic Local Hashing: optimal error with about log2(e^epsilon + 1) bits a report, decoded by FFT.

Local hashing with K hash functions, whose decoding is a convolution: the hash of x under the public number y is
the cyclotomic class of x - y modulo a prime K >= k, and it passes through randomised response over the N classes.

Every exact case is a block-design scheme (Park, Nam, Lee 2023; Gentle 2025 proves that designs are
necessary), and the difference families are Wilson's (1972). We are not aware of an earlier cyclotomic
mechanism for local differential privacy.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from hashlib import sha256
from itertools import count
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from deniable.domain import Domain, Indices, check_text
from deniable.errors import InvalidArgument, MalformedReport, SimulatedReport
from deniable.estimation.channel import PureChannel
from deniable.estimation.circulant import ShiftFamily, ShiftOperator
from deniable.estimation.classes import ClassOperator
from deniable.estimation.family import Evidence
from deniable.estimation.inversion import unbiased
from deniable.mechanisms.base import PureMechanism
from deniable.mechanisms.class_search import loss, search
from deniable.mechanisms.client import as_bytes
from deniable.mechanisms.cyclotomy import class_table, is_prime, least_loss, primitive_root
from deniable.mechanisms.definition import Payload, Payloads, float_bound
from deniable.mechanisms.symbols import MAX_SYMBOLS, SymbolReports
from deniable.randomness.bounds import exponential_below
from deniable.randomness.choices import Choices, rejection_bound
from deniable.randomness.keystream import MODULUS, Keystream, Words
from deniable.reports import Report
from deniable.summary import Counts, Summary
from deniable.validate import whole

MAX_COST = 0.40  # refused beyond: another mechanism serves such a domain and epsilon better


@dataclass(frozen=True)
class CyclotomicLocalHashing(SymbolReports, PureMechanism):
    """Cyclotomic Local Hashing, "clh".

    A payload is y N + a: the public y and the class a that was sent. On the wire y follows from the report's
    id (`public_coin`), and only a is sent (`encode_class`); `report_bits` counts a alone, while `encode` keeps
    both. Guarantee: largest ratio 1 + NT/(M - T) <= e^epsilon, whatever y is, if y does not depend on the value.

    >>> CyclotomicLocalHashing(22_000, epsilon=2.0).report_bits
    3
    """

    name: ClassVar[str] = "clh"
    version: ClassVar[int] = 1
    default_method: ClassVar[str] = "mle"

    modulus: int = None  # type: ignore[assignment]  # K and N are searched for unless given
    classes: int = None  # type: ignore[assignment]
    salt: str = ""

    def __post_init__(self) -> None:
        k = Domain.of(self.domain).k
        bound = float_bound(self.epsilon)
        check_text("salt", self.salt)
        if self.modulus is None and self.classes is None:
            modulus, classes = search(k, bound)
            if loss(bound, modulus, classes) > (1 + MAX_COST) * least_loss(bound, k):
                rule = f"suit clh at epsilon={self.epsilon:g}: its error is over {MAX_COST:.0%} more; use csr or grr"
                raise InvalidArgument("k", rule, k)
            object.__setattr__(self, "modulus", modulus)
            object.__setattr__(self, "classes", classes)
        modulus, classes = whole(max(k, 3), 2**31, modulus=self.modulus), whole(2, 2**31, classes=self.classes)
        if not is_prime(modulus):
            raise InvalidArgument("modulus", "be prime", modulus)
        if (modulus - 1) % classes or modulus * classes > MAX_SYMBOLS:
            raise InvalidArgument("classes", f"divide {modulus - 1} and be at most {MAX_SYMBOLS // modulus}", classes)
        super().__post_init__()

    def _parameters(self) -> dict[str, Any]:
        return {"modulus": self.modulus, "classes": self.classes, "salt": self.salt}

    def _thresholds(self, bound: Fraction, modulus: int) -> dict[str, int]:
        # T = floor(M (E - 1) / (E - 1 + N)), as for randomised response over the classes
        truth = int(modulus * (bound - 1) / (bound - 1 + self.classes))
        if truth == 0:
            raise InvalidArgument("epsilon", f"be larger for k={self.k}: no 64-bit coin is that weak", self.epsilon)
        rejections = rejection_bound(self.classes, modulus), rejection_bound(self.modulus, modulus)
        return {"truth": truth, "rejection_class": rejections[0], "rejection_public": rejections[1]}

    @property
    def _levels(self) -> tuple[Fraction, Fraction]:
        """Pr[a | y, x] where a is the class of x - y, and where it is another one."""
        low = Fraction(MODULUS - self.thresholds["truth"], MODULUS * self.classes)
        return low + Fraction(self.thresholds["truth"], MODULUS), low

    def _channel(self) -> PureChannel:
        high, low = self._levels
        w = (self.modulus - 1) // self.classes
        # x is supported unless y = x; x' and x together for the w - 1 y with (x - y)/(x' - y) in C_0 \ {1};
        # if y = x, x' is supported by 1 of N classes
        p = (self.modulus - 1) * high / self.modulus
        q = ((w - 1) * high + (self.modulus - 1 - w) * low + Fraction(1, self.classes)) / self.modulus
        return PureChannel(p, q)

    @property
    def loss(self) -> float:
        """Mean squared error over the asymptotic optimum 4e/(n(e - 1)^2)."""
        return loss(float(exponential_below(self.epsilon)), self.modulus, self.classes)

    @property
    def stride(self) -> int:
        return 3  # the coin, the uniform class, and the public y

    @property
    def symbols(self) -> int:
        return self.modulus * self.classes

    @property
    def report_bits(self) -> int:
        return (self.classes - 1).bit_length()

    @property
    def _payload_bytes(self) -> int:
        return ((self.symbols - 1).bit_length() + 7) // 8

    def class_of(self, difference: int) -> int | None:
        """The class of a number modulo K, by one modular power; 0 has none."""
        return self._class_of_power.get(pow(difference, (self.modulus - 1) // self.classes, self.modulus))

    @cached_property
    def _class_of_power(self) -> dict[int, int]:
        # (g^(N i + a))^((K - 1)/N) = (g^((K - 1)/N))^a
        unit = pow(primitive_root(self.modulus), (self.modulus - 1) // self.classes, self.modulus)
        return {pow(unit, a, self.modulus): a for a in range(self.classes)}

    @cached_property
    def _table(self) -> npt.NDArray[np.uint32]:
        return class_table(self.modulus, self.classes)

    def randomize_one(self, index: int, choices: Choices) -> int:
        truthful = choices.coin(self.thresholds["truth"])
        replacement = choices.below(self.classes, self.thresholds["rejection_class"])
        public = choices.below(self.modulus, self.thresholds["rejection_public"])
        return self._payload_of(index, truthful, replacement, public)

    def _payload_of(self, index: int, truthful: bool, replacement: int, public: int) -> int:
        own = self.class_of((index - public) % self.modulus)
        sent = (replacement, replacement if own is None else own)[truthful]
        return public * self.classes + sent

    def randomize(self, indices: Indices, words: Words, out: Payloads) -> Indices:
        from deniable.kernels.classes import classify

        t = self.thresholds
        bounds = np.array([self.classes, self.modulus], np.uint64)
        rejections = np.array([t["rejection_class"], t["rejection_public"]], np.uint64)
        again = np.empty(len(indices), np.bool_)
        rejected = classify(indices, words, np.uint64(t["truth"]), bounds, rejections, self._table, again, out)
        return np.flatnonzero(again) if rejected else np.empty(0, np.int64)

    def public_coin(self, report_id: bytes) -> int:
        """The y of a report: exactly uniform below K if SHA-256 is, and the same for client and server.

        Formula: words are the first 8 bytes of SHA-256(SHA-256(salt) || id || counter of 4 bytes), big-endian;
        a rejected word (randomness/choices.py) is replaced by the next counter's.
        """

        salted = sha256(self.salt.encode()).digest() + as_bytes(report_id)

        def words() -> Iterator[int]:
            for counter in count():
                digest = sha256(salted + counter.to_bytes(4, "big"))
                yield int.from_bytes(digest.digest()[:8], "big")

        source = words()
        return Choices([next(source)], source).below(self.modulus)

    def privatize_for(self, value: object, report_id: bytes) -> Report:
        """The report of one person under this id, which must not depend on the value."""
        index, keystream = self.domain.index(value), Keystream.fresh()
        choices = Choices(keystream.stream(0).words(2).tolist(), keystream.overflow(0))
        truthful = choices.coin(self.thresholds["truth"])
        replacement = choices.below(self.classes, self.thresholds["rejection_class"])
        payload = self._payload_of(index, truthful, replacement, self.public_coin(report_id))
        return Report(payload, self.fingerprint)

    def encode_class(self, report: Report, report_id: bytes) -> bytes:
        """What is sent beside the id: the class alone; refused if the report was not made under this id."""
        if not isinstance(report, Report):
            raise MalformedReport(f"encode_class takes one Report, got {type(report).__name__}")
        if report.simulated:
            raise SimulatedReport("a report made with a seed protects nobody and must not be sent")
        public, sent = divmod(int(self.check_payloads(np.array([self._payload(report)]))[0]), self.classes)
        if public != self.public_coin(report_id):
            raise MalformedReport("report must be made under the id it is sent with (see privatize_for)")
        return sent.to_bytes((self.report_bits + 7) // 8, "big")

    def decode_class(self, data: bytes, report_id: bytes) -> Report:
        """The report whose class is in these bytes and whose y follows from its id."""
        data = as_bytes(data)
        sent = int.from_bytes(data, "big")
        if len(data) != (self.report_bits + 7) // 8 or sent >= self.classes:
            raise MalformedReport(f"class must lie from 0 to {self.classes - 1}, got {bytes(data).hex()!r}")
        return Report(self.public_coin(report_id) * self.classes + sent, self.fingerprint)

    def _probability(self, payload: Payload, index: int) -> Fraction:
        assert isinstance(payload, int | np.integer)
        public, sent = divmod(int(payload), self.classes)
        own = self.class_of((index - public) % self.modulus)
        return (Fraction(1, self.classes) if own is None else self._levels[own != sent]) / self.modulus

    def ratio(self) -> Fraction:
        high, low = self._levels
        return high / low

    def reconstruction_rate(self) -> Fraction:
        # (1/k) sum over (y, a) of the largest Pr[y, a | x]; for a given a the differences x - y are a window of
        # k numbers. Where it meets no element of C_a, the best guess is x = y if that is in it, else any value.
        bare = own = 0
        modulus, k = self.modulus, self.k
        order = np.argsort(self._table[1:], kind="stable").reshape(self.classes, -1) + 1  # elements of C_a, rising
        for places in order:
            gaps = np.diff(places, append=places[0] + modulus)
            bare += int(np.maximum(gaps - k, 0).sum())
            # windows inside the gap around 0 start after its left end and contain 0 = K
            first, last = max(int(places[-1]) + 1, modulus - k + 1), min(modulus, int(places[0]) + modulus - k)
            own += max(0, last - first + 1)
        high, low = self._levels
        best = (self.symbols - bare) * high + own * Fraction(1, self.classes) + (bare - own) * low
        return best / (modulus * k)

    @cached_property
    def family(self) -> ShiftFamily:
        """y - x lies in -C_a = -g^a C_0 for the reports (y, a) that support x."""
        base = np.flatnonzero(self._table == 0)
        root = primitive_root(self.modulus)
        opposite = tuple(-pow(root, a, self.modulus) for a in range(self.classes))
        return ShiftFamily(self.modulus, base, opposite, self.k)

    def support_counts(self, summary: Summary) -> Counts:
        by_class = np.ascontiguousarray(summary.counts.reshape(self.modulus, self.classes).T)
        return self.family.support(by_class.reshape(-1))

    def _evidence(self, summary: Summary) -> Evidence:
        tails = self.tails(summary)  # one transform serves both
        first = unbiased(tails.support, tails.n, tails.channel)
        return Evidence(first, summary.n, self.noise("users"), summary.counts, tails, self.operator())

    def operator(self) -> ClassOperator:
        high, low = (float(level / self.modulus) for level in self._levels)
        return ClassOperator(ShiftOperator(self.family, self.k, high, low), 1 / self.symbols)

"""Reports of a public number and a class: the number follows from the report's id, and only the class is sent.

The public number y chooses one way to divide the values into N classes, as a hash function does; the class of the
value passes through randomised response over the N classes. Whatever y is, the report is private if y does not
depend on the value; the server must know y, and computes it where it follows from an id that is sent anyway.

Reference: Wang, Blocki, Li, Jha 2017, section 4.4 (local hashing).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from hashlib import sha256
from itertools import count
from typing import Any

import numpy as np

from deniable.core.arrays import Indices, Payloads, Words
from deniable.core.domain import check_text
from deniable.core.errors import MalformedReport
from deniable.core.reports import Report, Reports
from deniable.estimation.channel import TwoLevel, replacement_threshold
from deniable.kernels.words import high_half
from deniable.mechanisms.base.client import check_sendable
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.layouts.codes import as_bytes, cut, stacked
from deniable.mechanisms.layouts.layout import Payload
from deniable.mechanisms.layouts.symbols import SymbolLayout
from deniable.randomness.bounds import rejection_bound
from deniable.randomness.choices import Choices
from deniable.randomness.keystream import Keystream


@dataclass(frozen=True)
class PublicCoin(Mechanism):
    """A payload is y N + a: the public number y and the class a that was sent.

    `report_bits` counts the class alone, while `encode` keeps both. Guarantee: largest ratio
    1 + NT/(M - T) <= e^epsilon, with M = 2^64 and T the truth threshold.
    """

    salt: str = field(default="", kw_only=True)

    def _settled(self) -> Mapping[str, Any]:
        check_text("salt", self.salt)
        return {}

    @property
    @abstractmethod
    def classes(self) -> int:
        """N: the number of classes."""

    @property
    @abstractmethod
    def publics(self) -> int:
        """The number of public numbers, all equally likely."""

    @abstractmethod
    def _class_under(self, index: int, public: int) -> int:
        """The class of a value under a public number; `classes` where it has none and sends a uniform class."""

    def _thresholds(self, bound: Fraction, modulus: int) -> dict[str, int]:
        truth = replacement_threshold(bound, modulus, self.classes)
        self.require_coin(truth > 0)
        rejections = rejection_bound(self.classes, modulus), rejection_bound(self.publics, modulus)
        return {"truth": truth, "rejection_class": rejections[0], "rejection_public": rejections[1]}

    @cached_property
    def two_level(self) -> TwoLevel:
        return TwoLevel.by_replacement(self.thresholds["truth"], self.classes, repeats=self.publics)

    def supports(self, payload: Payload, index: int) -> bool:
        assert isinstance(payload, int | np.integer)
        public, sent = divmod(int(payload), self.classes)
        return self._class_under(index, public) == sent

    def public_part(self, data: Payloads) -> Indices:
        return data.astype(np.int64) // self.classes

    @property
    def stride(self) -> int:
        return 3  # the coin, the uniform class, and the public number

    @property
    def symbols(self) -> int:
        """Number of different payloads."""
        return self.publics * self.classes

    @cached_property
    def layout(self) -> SymbolLayout:
        return SymbolLayout(self.symbols)

    @property
    def report_bits(self) -> int:
        return (self.classes - 1).bit_length()

    def randomize_one(self, index: int, choices: Choices) -> int:
        truthful = choices.coin(self.thresholds["truth"])
        replacement = choices.below(self.classes, self.thresholds["rejection_class"])
        public = choices.below(self.publics, self.thresholds["rejection_public"])
        return self._payload_of(index, truthful, replacement, public)

    def _payload_of(self, index: int, truthful: bool, replacement: int, public: int) -> int:
        own = self._class_under(index, public)
        sent = (replacement, own)[truthful & (own < self.classes)]
        return public * self.classes + sent

    def public_coin(self, report_id: bytes) -> int:
        """The public number of a report: exactly uniform if SHA-256 is, and the same for client and server.

        Formula: words are the first 8 bytes of SHA-256(SHA-256(salt) || id || counter of 4 bytes), big-endian;
        a rejected word (randomness/choices.py) is replaced by the next counter's.
        """

        salted = sha256(self.salt.encode()).digest() + as_bytes(report_id)

        def words() -> Iterator[int]:
            for counter in count():
                digest = sha256(salted + counter.to_bytes(4, "big"))
                yield int.from_bytes(digest.digest()[:8], "big")

        source = words()
        return Choices([next(source)], source).below(self.publics)

    def public_coins(self, report_ids: Iterable[bytes]) -> Indices:
        """The public numbers of many reports."""
        ids = [as_bytes(report_id) for report_id in report_ids]
        salt, counter = sha256(self.salt.encode()).digest(), bytes(4)
        first = b"".join([sha256(salt + each + counter).digest()[:8] for each in ids])
        words: Words = np.frombuffer(first, ">u8").astype(np.uint64)
        bound = np.uint64(self.publics)
        drawn = high_half.py_func(words, bound).astype(np.int64)  # type: ignore[attr-defined]
        for place in np.flatnonzero(words * bound < np.uint64(rejection_bound(self.publics))).tolist():
            drawn[place] = self.public_coin(ids[place])
        return np.asarray(drawn)

    def privatize_for(self, value: object, report_id: bytes) -> Report:
        """Make the report of one person under this id, which must not depend on the value."""
        index, keystream = self.domain.index(value), Keystream.fresh()
        choices = Choices(keystream.stream(0).words(2), keystream.overflow(0))
        truthful = choices.coin(self.thresholds["truth"])
        replacement = choices.below(self.classes, self.thresholds["rejection_class"])
        payload = self._payload_of(index, truthful, replacement, self.public_coin(report_id))
        return Report(payload, self.fingerprint)

    def encode_class(self, report: Report, report_id: bytes) -> bytes:
        """Encode the class alone, to be sent beside the id; refuse a report not made under this id."""
        check_sendable(report, Report, "encode_class")
        public, sent = divmod(int(self.layout.check(np.array([self._payload(report)]))[0]), self.classes)
        if public != self.public_coin(report_id):
            raise MalformedReport("report must be made under the id it is sent with. Use privatize_for.")
        return self.class_layout.pack(sent)

    def decode_class(self, data: bytes, report_id: bytes) -> Report:
        """Decode the report whose class is in these bytes and whose public number follows from its id."""
        sent = self.class_layout.unpack(as_bytes(data))
        assert isinstance(sent, int)
        return Report(self.public_coin(report_id) * self.classes + sent, self.fingerprint)

    def decode_class_many(self, data: Iterable[bytes], report_ids: Iterable[bytes]) -> Reports:
        """Decode a batch of classes, in the order of their ids; an error names the position of the first wrong one."""
        return self._under(self.class_layout.unpack_many(stacked(data, self.class_layout.code_size)), report_ids)

    def decode_class_joined(self, data: bytes, report_ids: Iterable[bytes]) -> Reports:
        """Decode classes that lie end to end, in the order of their ids."""
        return self._under(self.class_layout.unpack_many(cut(data, self.class_layout.code_size)), report_ids)

    def _under(self, sent: Payloads, report_ids: Iterable[bytes]) -> Reports:
        publics = self.public_coins(report_ids)
        if len(sent) != len(publics):
            raise MalformedReport(f"there must be one id for each of {len(sent)} classes, got {len(publics)}")
        return Reports((publics * self.classes + sent).astype(np.uint32), self.fingerprint)

    @cached_property
    def class_layout(self) -> SymbolLayout:
        """A class that is sent by itself."""
        return SymbolLayout(self.classes)

"""The open domain: any string, without a list made beforehand. A value's index is its digest (hashing.py)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import numpy as np

from deniable.core.arrays import Indices, Numbers
from deniable.core.domain import OUTSIDE, Domain, Label, check_text
from deniable.core.domain.columns import Column, entries, plain
from deniable.core.errors import InvalidArgument
from deniable.core.hashing import digest
from deniable.core.validate import whole

MAX_BYTES, MAX_KEY = 65_536, 32


@dataclass(frozen=True)
class Open(Domain):
    """All strings, or bytes, of up to `max_bytes` bytes. Candidates are named when reports are decoded.

    A string is hashed as UTF-8, so "a" and b"a" are the same value, and two ways to write an accent are two values:
    normalise text (NFC, one case) before it is privatised.
    """

    kind: ClassVar[str] = "open"
    max_bytes: int
    key: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "max_bytes", whole(1, MAX_BYTES, max_bytes=self.max_bytes))
        check_text("key", self.key)
        if len(self.key.encode()) > MAX_KEY:
            raise InvalidArgument("key", f"have at most {MAX_KEY} bytes", self.key)
        self._check_extras()
        for name in ("other", "no_answer"):
            label = getattr(self, name)
            if label is not None and len(label.encode()) > self.max_bytes:
                raise InvalidArgument(name, f"have at most {self.max_bytes} bytes, like every value", label)

    @property
    def listed(self) -> NoReturn:
        raise InvalidArgument("domain", "be closed here", self, hint="An open domain lists no values.")

    def candidates(self, values: Iterable[Any]) -> Domain:
        """Return the closed domain of these strings and the catch-all categories, which a decoder looks for."""
        from deniable.core.domain.listed import Categories

        if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
            raise InvalidArgument("candidates", "be a list of strings", values)
        labels = tuple(map(self._text, map(plain, values)))
        if not labels:
            raise InvalidArgument("candidates", "not be empty", [], hint="List the strings to look for.")
        extras = (label for label in self.extras if label not in set(labels))
        try:
            return Categories((*labels, *extras), other=UNLISTED)
        except InvalidArgument as error:
            if "distinct" not in error.rule:
                raise
            rule = f'be distinct and not "{UNLISTED}"'
            hint = "Use list(dict.fromkeys(candidates)) to drop repeats."
            raise InvalidArgument("candidates", rule, error.value, hint) from None

    def _text(self, value: object) -> str:
        if isinstance(value, bytes):
            try:
                value = value.decode()
            except UnicodeDecodeError:
                raise InvalidArgument("candidates", "be text, or text in UTF-8", value) from None
        if self._bytes(value) is None:
            raise InvalidArgument("candidates", self._rule(), value)
        return str(value)

    def _listed_members(self) -> dict[str, Any]:
        return {"key": self.key, "max_bytes": self.max_bytes}

    def _listed_label(self, _index: int) -> Label:
        return self.listed

    def _catch_all(self, code: int) -> int | None:
        label = self.other if code == OUTSIDE else self.no_answer
        return None if label is None else self._find(label)

    def _rule(self) -> str:
        return f"be a string, or bytes, of at most {self.max_bytes} bytes"

    def _find(self, value: object) -> int:
        data = self._bytes(value)
        return OUTSIDE if data is None else digest(data, self.key.encode())

    def _bytes(self, value: object) -> bytes | None:
        """Return the bytes to hash, or None for a value outside the domain."""
        if isinstance(value, str):
            try:
                value = value.encode()
            except UnicodeEncodeError:  # half of a surrogate pair
                return None
        return value if isinstance(value, bytes) and len(value) <= self.max_bytes else None

    def _find_in_array(self, array: Numbers) -> Indices:
        values = entries(array)
        if all(isinstance(value, (str, bytes)) for value in values):
            distinct = dict.fromkeys(values)
            found = dict(zip(distinct, self._find_each(distinct).tolist(), strict=True))
            return np.fromiter(map(found.__getitem__, values), np.int64, len(values))
        return self._find_each(values)

    def _find_in_arrow(self, column: Column) -> Indices:
        # each distinct string is hashed once
        coded = column.dictionary_encode()
        found: Indices = self._find_each(entries(coded.dictionary))[coded.indices.to_numpy()]
        return found


UNLISTED = "(unlisted)"  # the label for all strings that are not candidates

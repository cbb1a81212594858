"""Keys: 16 random bytes with a role, of which a collector keeps only the digest."""

from __future__ import annotations

import hashlib
import re
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import NamedTuple

from deniable.core.errors import InvalidArgument, kind_of

KEY_BYTES = 16
NO_KEY = bytes(KEY_BYTES)  # in a frame whose key is in the header
WRITE, READ, ADMIN = "write", "read", "admin"
ROLES = (WRITE, READ, ADMIN)
_PREFIX = {WRITE: "dnw_", READ: "dnr_", ADMIN: "dna_"}  # so that scanners for leaked secrets can tell them
_FORM = re.compile(r"(dn[wra]_)([A-Za-z0-9_-]{21}[AQgw])")  # the last character has only two bits


class Key(NamedTuple):
    """A secret and what it may do. Its text is for people and headers, its bytes for frames."""

    role: str
    secret: bytes

    @staticmethod
    def new(role: str) -> Key:
        """Draw a key from the operating system's randomness."""
        return Key(role, secrets.token_bytes(KEY_BYTES))

    @staticmethod
    def read(text: object) -> Key:
        """Read the text of a key; its contents are never quoted."""
        match = _FORM.fullmatch(text) if isinstance(text, str) else None
        if match is None:
            rule = "be dnw_ and 22 letters (dnr_ to read, dna_ to administrate)"
            raise InvalidArgument("key", rule, "another text" if isinstance(text, str) else kind_of(text))
        role = next(role for role, prefix in _PREFIX.items() if prefix == match[1])
        return Key(role, urlsafe_b64decode(match[2] + "=="))

    def require(self, role: str) -> Key:
        """This key, if it has the role."""
        if self.role != role:
            raise InvalidArgument("key", f"be a {role} key, {_PREFIX[role]}...", self)
        return self

    @property
    def text(self) -> str:
        """How people and headers write it."""
        return _PREFIX[self.role] + urlsafe_b64encode(self.secret).decode().rstrip("=")

    @property
    def digest(self) -> bytes:
        """What a collector keeps of it."""
        return digest(self.secret)

    def __repr__(self) -> str:
        return f"Key({self.role})"


def digest(secret: bytes) -> bytes:
    """The SHA-256 of a key's bytes; they are random, so that nothing slower is needed."""
    return hashlib.sha256(secret).digest()

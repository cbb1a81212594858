"""What is read of a request: the few headers that matter, the query by the table of routes, the body within bounds.

Addresses, user agents and cookies are not among them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl

import msgspec

from deniable.collector.http.table import JSON, Parameter, Route
from deniable.core.documents import read_json
from deniable.core.errors import InvalidArgument, SpecError, listed, shown
from deniable.core.suggest import did_you_mean
from deniable.wire.keys import Key
from deniable.wire.refusals import Refused

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
# of the start of a body: the most bytes it may have, None if that is not known yet
Learn = Callable[[bytes], int | None]
UNREAD = "deniable.unread"  # in the scope of a request whose body was not read to its end
SLOW = "deniable.slow"  # in the scope of a request whose body did not arrive in time
MOST_READING = 2**26  # bytes of all bodies that are being read
MOST_NAMELESS = 2**23  # of those whose key is not known yet
_START = 64  # bytes from which a key is learnt
_LONGEST_QUERY = 8_192
_LONGEST_NUMBER = 19  # digits
_BUSY_SECONDS = 1.0


class Headers:
    """The headers of a request that are read, each when it is asked for."""

    __slots__ = ("_found",)

    def __init__(self, scope: Scope | None = None) -> None:
        pairs = () if scope is None else scope["headers"]
        self._found: dict[bytes, bytes] = {name: value for name, value in pairs if name in _READ}

    def _text(self, name: bytes) -> str:
        return self._found.get(name, b"").decode("latin-1")

    @property
    def kind(self) -> str:
        """The media type of the body, without parameters."""
        return self._text(b"content-type").partition(";")[0].strip().lower()

    @property
    def length(self) -> int | None:
        """The bytes of the body, if they are announced."""
        length = self._found.get(b"content-length")
        return int(length) if length is not None and length.isdigit() and len(length) < _LONGEST_NUMBER else None

    @property
    def origin(self) -> str | None:
        """Where the page that asks comes from."""
        return self._text(b"origin") if b"origin" in self._found else None

    @property
    def tag(self) -> str:
        """What the client has already."""
        return self._text(b"if-none-match")

    @property
    def authorized(self) -> bool:
        """Whether there is a key, of whatever form."""
        return b"authorization" in self._found

    @property
    def key(self) -> Key | None:
        """The key of the header `Authorization`."""
        if not self.authorized:
            return None
        scheme, _, text = self._text(b"authorization").partition(" ")
        if scheme.lower() != "bearer":
            raise Refused("no-key", "the header Authorization must be: Bearer and a key")
        try:
            return Key.read(text.strip())
        except InvalidArgument as error:
            raise Refused("no-key", str(error)) from None

    @property
    def same_site(self) -> bool:
        """Whether a page of this very server asks."""
        return self.origin is not None and self.origin.partition("://")[2] == self._text(b"host")


_READ = frozenset((b"content-type", b"authorization", b"origin", b"content-length", b"host", b"if-none-match"))


class Reader:
    """Reads bodies, of which only so much may be in memory at once."""

    def __init__(self) -> None:
        self._reading = 0
        self._nameless = 0

    async def body(
        self, scope: Scope, receive: Receive, length: int | None, most: int, learn: Learn | None = None
    ) -> bytes:
        """The body, of at most so many bytes. Until `learn` knows its key, it counts among those of nobody."""
        if length is not None and length > most:
            raise _too_large(most)
        message = await receive()
        body: bytes = message.get("body", b"")
        if message["type"] == "http.disconnect":
            raise _gone(scope)
        if not message.get("more_body", False):
            if len(body) > most:
                raise _too_large(most)
            return body
        return await self._rest(scope, receive, body, length, most, learn)

    async def _rest(
        self, scope: Scope, receive: Receive, first: bytes, length: int | None, most: int, learn: Learn | None
    ) -> bytes:
        parts, size, start = [first], len(first), first[:_START]
        nameless = 0 if learn is None else size
        self._reading += size
        self._nameless += nameless
        scope[UNREAD] = True
        try:
            while True:
                if learn is not None and (own := learn(start)) is not None:
                    most, learn = min(most, own), None
                    self._nameless -= nameless
                    nameless = 0
                if size > most or (length is not None and length > most):
                    raise _too_large(most)
                if learn is not None and self._nameless > MOST_NAMELESS:
                    raise Refused("busy", "too many bodies without a key arrive at once", retry_after=_BUSY_SECONDS)
                if self._reading > MOST_READING:
                    raise Refused("busy", "too many large bodies arrive at once", retry_after=_BUSY_SECONDS)
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise _gone(scope)
                part = message.get("body", b"")
                parts.append(part)
                size += len(part)
                self._reading += len(part)
                if learn is not None:
                    start = (start + part)[:_START]
                    nameless += len(part)
                    self._nameless += len(part)
                if not message.get("more_body", False):
                    break
            if size > most:
                raise _too_large(most)
            scope[UNREAD] = False
            return b"".join(parts)
        finally:
            self._reading -= size
            self._nameless -= nameless


def _too_large(most: int) -> Refused:
    return Refused("too-large", f"the body must have at most {most:,} bytes")


def _gone(scope: Scope) -> Refused:
    return Refused("slow" if scope.get(SLOW) else "truncated", "the client went away before the end of the body")


def read_query(route: Route, raw: bytes) -> dict[str, Any]:
    """The parameters of the query, checked by the table; those of `many` as a dict of lists."""
    if len(raw) > _LONGEST_QUERY:
        raise Refused("bad-argument", f"the query must have at most {_LONGEST_QUERY:,} bytes")
    try:
        pairs = parse_qsl(raw.decode("ascii"), keep_blank_values=True, strict_parsing=bool(raw), errors="strict")
    except ValueError:
        raise Refused("bad-argument", "the query must be NAME=VALUE pairs with & between them, in UTF-8") from None
    known = {each.name: each for each in route.query}
    found: dict[str, Any] = {each.name: {} if each.many else each.default for each in route.query}
    seen = set()
    for name, text in pairs:
        first, dot, rest = name.partition(".")
        parameter = known.get(first)
        if parameter is None or parameter.many != bool(dot):
            raise Refused("bad-argument", f"the request has no parameter {shown(name)}. {_hint(name, known)}")
        if parameter.many:
            found[first].setdefault(rest, []).append(text)
        elif name in seen:
            raise Refused("bad-argument", f"parameter {name} is given twice")
        else:
            found[name] = _value(parameter, text)
        seen.add(name)
    for each in route.query:
        if each.needed and each.name not in seen:
            raise Refused("bad-argument", f"parameter {each.name} must be given: {each.what}")
    return found


def _hint(name: str, known: Mapping[str, Parameter]) -> str:
    if name in known:
        return f"It has a name of its own after a dot: {name}.NAME is {known[name].what}."
    return did_you_mean(name, known) or f"It takes {listed(known)}." if known else "It takes none."


def _value(parameter: Parameter, text: str) -> Any:
    try:
        return msgspec.convert(text, parameter.kind, strict=False)
    except msgspec.ValidationError as error:
        raise Refused("bad-argument", f"parameter {parameter.name}: {error}") from None


def read_body(route: Route, kind: str, body: bytes) -> Any:
    """The body as the route takes it: JSON of its type, or bytes of another media type."""
    if kind in route.takes:
        return body
    if route.body is None or kind != JSON:
        taken = [*([JSON] if route.body is not None else []), *route.takes]
        raise Refused("unsupported-type", f"the body must be {' or '.join(taken)}, got {shown(kind)}")
    try:
        found = msgspec.json.decode(body, type=route.body)
        read_json(body, "the body", limits=None)  # which looks for members that are given twice
        return found
    except SpecError as error:
        raise Refused("not-json", str(error)) from None
    except msgspec.ValidationError as error:
        raise Refused("bad-argument", str(error)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Refused("not-json", f"the body is not JSON: {error}") from None


def of_query(query: Mapping[str, Any], *names: str) -> list[Any]:
    """Some parameters, in this order."""
    return [query[name] for name in names]

"""Requests to one collector, over HTTP, with bounds on time and size and without redirects.

What comes back is trusted no further than its form: a page of some other server, such as a hotel's, counts as if
nobody had answered.
"""

from __future__ import annotations

import http.client
import ipaddress
import json
import time
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

from deniable.client.errors import Unreachable
from deniable.core.errors import InvalidArgument, cut
from deniable.wire.refusals import REASONS, Refused

_PORTS = {"http": ":80", "https": ":443"}  # which an address need not name
_LONGEST_PAUSE = 86_400.0  # seconds that a Retry-After is believed


class Reply(NamedTuple):
    """What a server answered: the members of a JSON object, or None where there was something else."""

    status: int
    body: bytes
    members: dict[str, Any] | None
    retry_after: float | None

    @property
    def refusal(self) -> str:
        """The reason's name if it was a collector that refused, in its own shape of errors, else ""."""
        found = (self.members or {}).get("kind")
        return found if self.status >= 400 and isinstance(found, str) else ""

    def raise_refusal(self, site: str) -> None:
        """Raise what the collector refused for, or Unreachable if it was no collector."""
        if self.refusal in REASONS:
            message = str((self.members or {}).get("error", ""))
            raise Refused(self.refusal, message, retry_after=self.retry_after)
        if not 200 <= self.status < 300 or self.members is None:
            raise Unreachable(site, f"the answer is no collector's (status {self.status}{self._named()})")

    def _named(self) -> str:
        return f", {cut(self.refusal)}" if self.refusal else ""


class _NoRedirect(HTTPRedirectHandler):
    """A report is for the address that was given, and for no other."""

    def redirect_request(self, *_: object) -> None:
        return None


@dataclass(frozen=True)
class Web:
    """One collector's address. Redirects are not followed; the system's proxies are used, except for this machine."""

    site: str
    timeout: float = 10.0
    most: int = 2**23  # bytes of an answer

    @property
    def _opener(self) -> OpenerDirector:
        direct = [ProxyHandler({})] if is_here(self.site) else []
        opener = build_opener(_NoRedirect, *direct)
        opener.addheaders = [("User-Agent", "deniable")]  # the same for everybody
        return opener

    def request(self, method: str, path: str, body: bytes | None = None, key: str = "") -> Reply:
        """Send one request and read the whole answer, or raise Unreachable."""
        headers = {"Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = "application/octet-stream"
        if key:
            headers["Authorization"] = f"Bearer {key}"
        request = Request(self.site + path, body, headers, method=method)
        try:
            try:
                response: Any = self._opener.open(request, timeout=self.timeout)
            except HTTPError as refused:  # an answer like any other
                response = refused
            with response:
                data = _read(response, time.monotonic() + self.timeout, self.most)
                return _reply(int(response.status), response.headers.get("Retry-After"), data)
        except (URLError, OSError, http.client.HTTPException, ValueError) as error:
            reason = getattr(error, "reason", None) or error
            raise Unreachable(self.site, cut(str(reason) or type(error).__name__, 200)) from None


def _read(response: Any, deadline: float, most: int) -> bytes:
    parts, size = [], 0
    while part := response.read1(2**16):
        parts.append(part)
        size += len(part)
        if size > most or time.monotonic() > deadline:
            raise OSError("the answer is too long" if size > most else "the answer takes too long")
    expected = response.headers.get("Content-Length")
    if expected is not None and expected.isdigit() and size < int(expected):
        raise OSError("the answer was cut off")
    return b"".join(parts)


def _reply(status: int, header: str | None, data: bytes) -> Reply:
    try:
        members = json.loads(data)
    except (ValueError, RecursionError):
        members = None
    if not isinstance(members, dict):
        members = None
    pauses = [_seconds((members or {}).get("retry_after")), _seconds(header)]
    return Reply(status, data, members, max((pause for pause in pauses if pause is not None), default=None))


def _seconds(given: object) -> float | None:
    """A pause in seconds; a date, which needs a clock that agrees with the server's, is not read."""
    try:
        seconds = float(given)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return min(seconds, _LONGEST_PAUSE) if seconds >= 0 else None  # NaN is no number of seconds


def site_of(url: object) -> str:
    """The address of a collector, always spelled the same way: without the usual port or a slash at its end."""
    rule, hint = "be an address such as https://reports.example.org", "Keys are given apart from it."
    try:
        parts = urlsplit(url if isinstance(url, str) else "")
        plain = parts.scheme in ("http", "https") and parts.hostname and not (parts.query or parts.fragment)
        if not plain or parts.username is not None or parts.port == 0:
            raise ValueError
    except ValueError:
        raise InvalidArgument("url", rule, url, hint) from None
    host = parts.netloc.lower().removesuffix(_PORTS[parts.scheme]).removesuffix(":")
    return f"{parts.scheme}://{host}{parts.path.rstrip('/')}"


def is_encrypted(site: str) -> bool:
    """Whether nobody on the way can read or change what is said."""
    return site.startswith("https://") or is_here(site)


def is_here(site: str) -> bool:
    """Whether the address is this machine's own."""
    host = urlsplit(site).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"

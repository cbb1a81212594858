"""The address of a collector on this machine; any other is refused, whatever its name says."""

from __future__ import annotations

import ipaddress
import socket
from typing import NamedTuple
from urllib.parse import urlsplit

from deniable.core.errors import InvalidArgument

_RULE = "be the address of a collector on this machine, such as http://127.0.0.1:8321"


class Address(NamedTuple):
    """Where to connect: an address of the loopback interface, and how requests name it."""

    ip: str
    port: int
    name: str  # for the header `Host`

    @staticmethod
    def loopback(url: str) -> Address:
        """Read a URL and resolve its name, once: what is connected to is what was checked."""
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port or 80
        except ValueError:
            raise InvalidArgument("address", _RULE, url) from None
        if parts.scheme != "http" or not host or parts.path not in ("", "/") or parts.query or parts.username:
            hint = "TLS belongs to the proxy: the load goes to the collector itself." if parts.scheme == "https" else ""
            raise InvalidArgument("address", _RULE, url, hint)
        try:
            found = {str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)}
        except (OSError, UnicodeError):
            raise InvalidArgument("address", _RULE, url, "The name is not known.") from None
        strangers = sorted(ip for ip in found if not ipaddress.ip_address(ip.partition("%")[0]).is_loopback)
        if strangers:
            hint = f"It leads to {strangers[0]}. Load is for one's own machine."
            raise InvalidArgument("address", _RULE, url, hint)
        ip = min(found, key=lambda ip: (":" in ip, ip))  # servers listen on IPv4 unless told otherwise
        return Address(ip, port, f"{host}:{port}" if ":" not in host else f"[{host}]:{port}")

"""The dashboard: the files of one folder, under a policy that lets them load nothing from elsewhere.

One of them is for other pages: the client, which any page may load with a script tag.
"""

from __future__ import annotations

from pathlib import Path

from deniable.collector.http.replies import Reply
from deniable.wire.refusals import Refused

FOLDER = Path(__file__).parents[1] / "dashboard"
_KINDS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = (
    (b"content-security-policy", _POLICY.encode()),
    (b"cache-control", b"no-cache"),
    (b"cross-origin-opener-policy", b"same-origin"),
)
_CLIENT = "client.js"
_FOR_ALL = ((b"access-control-allow-origin", b"*"), (b"cross-origin-resource-policy", b"cross-origin"))


class Pages:
    """Files that were in the folder at the start; no others are ever read."""

    def __init__(self, folder: Path = FOLDER) -> None:
        files = sorted(path for path in folder.iterdir() if path.suffix in _KINDS)
        self._replies = {path.name: _reply(path) for path in files}

    def reply(self, name: str) -> Reply:
        """A file, or refuse it."""
        reply = self._replies.get(name)
        if reply is None:
            raise Refused("not-found")
        return reply


def _reply(path: Path) -> Reply:
    headers = (*_HEADERS, *_FOR_ALL) if path.name == _CLIENT else _HEADERS
    return Reply(path.read_bytes(), _KINDS[path.suffix], 200, headers)

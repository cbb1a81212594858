"""The dashboard: the files of one folder, under a policy that lets them load nothing from elsewhere."""

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


class Pages:
    """Files that were in the folder at the start; no others are ever read."""

    def __init__(self, folder: Path = FOLDER) -> None:
        files = sorted(path for path in folder.iterdir() if path.suffix in _KINDS)
        self._replies = {path.name: Reply(path.read_bytes(), _KINDS[path.suffix], 200, _HEADERS) for path in files}

    def reply(self, name: str) -> Reply:
        """A file, or refuse it."""
        reply = self._replies.get(name)
        if reply is None:
            raise Refused("not-found")
        return reply

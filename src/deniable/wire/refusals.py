"""Every reason for which a collector refuses a request: its name, its HTTP status, and what a client should do.

The names are a promise: clients act on them, counters are named by them, and docs/collector-api.md lists them.
"""

from __future__ import annotations

from typing import NamedTuple

from deniable.core.errors import DeniableError


class Reason(NamedTuple):
    """A reason to refuse: `again` is whether the same bytes may be accepted later."""

    status: int
    again: bool
    meaning: str


REASONS: dict[str, Reason] = {
    # who asks
    "no-key": Reason(401, False, "the request has no key, or none in the form of one"),
    "unknown-key": Reason(401, False, "the key was never made, or was revoked"),
    "wrong-key": Reason(403, False, "the key is valid, but may not do this"),
    "wrong-origin": Reason(403, False, "pages of this origin may not use the collection"),
    # what the bytes are
    "not-http": Reason(400, False, "the bytes are no HTTP request"),
    "not-a-frame": Reason(400, False, "the bytes are no frame of a report or batch"),
    "not-json": Reason(400, False, "the body is not the JSON that is expected here"),
    "newer-version": Reason(400, False, "the frame has a version that this collector does not know"),
    "truncated": Reason(400, False, "the frame ends before it should, or goes on after its end"),
    "bad-flags": Reason(400, False, "reserved bits of the frame are set"),
    "bad-id": Reason(400, False, "an id is not 16 bytes, occurs twice in a batch, or was not issued by this server"),
    "bad-segments": Reason(400, False, "the segments are not those of the collection"),
    "bad-payload": Reason(400, False, "no device could have sent this report under this spec"),
    "empty-batch": Reason(400, False, "the batch has no reports"),
    "bad-argument": Reason(400, False, "an argument of the request breaks a rule"),
    "bad-spec": Reason(400, False, "the spec is damaged, unknown, or costs more than the limits"),
    "unsupported-type": Reason(415, False, "the body is of a type that is not taken here"),
    "too-large": Reason(413, False, "the body is larger than the limit"),
    # where it belongs
    "unknown-spec": Reason(409, False, "the collection has no spec of this fingerprint"),
    "bad-bucket": Reason(400, False, "the time is not the start of a bucket of the collection"),
    "too-old": Reason(410, False, "the bucket is before the time whose reports are taken, or whose ids are known"),
    "in-future": Reason(409, True, "the bucket begins after the next one by the collector's clock"),
    "closed": Reason(409, False, "the collection is closed"),
    "expired": Reason(409, False, "the spec of this fingerprint takes no more reports"),
    "not-found": Reason(404, False, "there is nothing at this address"),
    "no-such-report": Reason(404, False, "no report of this id is remembered"),
    "wrong-method": Reason(405, False, "the address does not take this method"),
    "exists": Reason(409, False, "there is one of this name already"),
    "conflict": Reason(409, False, "it contradicts what is there"),
    "too-few-reports": Reason(403, True, "there are fewer reports than the collection's minimum"),
    # how much at once
    "rate": Reason(429, True, "the key has sent more than its rate allows"),
    "busy": Reason(429, True, "too many reports wait to be stored"),
    "slow": Reason(408, True, "the body did not arrive in time"),
    # the collector itself
    "storage": Reason(503, True, "the store failed; nothing of the request was kept"),
    "clock": Reason(
        503, True, "the machine's clock leapt ahead. If it is right, restart with deniable serve --accept-clock"
    ),
    "stopping": Reason(503, True, "the collector is shutting down"),
    "broken": Reason(500, True, "an unexpected fault of the collector"),
}


_LONGEST_WAIT = 86_400.0  # seconds


class Refused(DeniableError):
    """A request that is refused, for one of the `REASONS`; the message says what is wrong, then what to do."""

    def __init__(self, kind: str, message: str = "", *, retry_after: float | None = None) -> None:
        self.kind = kind
        self.reason = REASONS[kind]
        self.retry_after = None if retry_after is None else min(max(retry_after, 0.0), _LONGEST_WAIT)
        super().__init__(message or self.reason.meaning)

    @property
    def status(self) -> int:
        """The HTTP status."""
        return self.reason.status

    def to_dict(self) -> dict[str, object]:
        """The one shape of errors: what is wrong, the reason's name, the status."""
        found: dict[str, object] = {"error": str(self), "kind": self.kind, "code": self.status}
        return found if self.retry_after is None else {**found, "retry_after": self.retry_after}

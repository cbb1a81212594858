"""What a device says about one answer: what was spent, what was made of it, and where it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from deniable.core.display import brief
from deniable.wire.buckets import hour_text
from deniable.wire.frames import ID_BYTES

# The states of an answer
BEGUN = "begun"  # spent, but the device was stopped before the report existed
WAITING = "waiting"  # the report is kept, and will be sent
SENT = "sent"  # the collector has acknowledged it
REFUSED = "refused"  # the collector will never take it
EXPIRED = "expired"  # it could not be delivered in time
WITHDRAWING = "withdrawing"  # forgotten here; the collector is still to be asked to delete it
FORGOTTEN = "forgotten"

GATEWAY = "gateway"  # the reason of a report that is sent, but only as far as a gateway
DOUBT = "An earlier attempt to send it was never answered, so it may have been counted."

SENTENCES = {
    BEGUN: "Your answer was interrupted before it was made. Answer again to finish it; it costs nothing more.",
    WAITING: "Your answer is kept on this device and will be sent later.",
    SENT: "Your answer has been delivered.",
    REFUSED: "Your answer is not needed any more: the collector does not take it.",
    EXPIRED: "Your answer could not be delivered in time, so it is not sent any more.",
    WITHDRAWING: "Your answer is forgotten here, and the collector will be asked to delete it.",
    FORGOTTEN: "Your answer is forgotten.",
}
# The same, where the reason says more
_BECAUSE = {
    (SENT, GATEWAY): "Your answer has been handed over to the gateway, which is to deliver it.",
    (FORGOTTEN, "deleted"): "Your answer is forgotten: it was deleted, and not counted.",
    (FORGOTTEN, "no-such-report"): "Your answer is forgotten: it had not arrived, and was not counted.",
    (FORGOTTEN, "counted"): "Your answer is forgotten here. It had been counted before, which cannot be undone.",
}
_LOST = "Your answer is forgotten here. The collector can no longer find the report: it may have been counted."


@dataclass(frozen=True)
class Entry:
    """One line of the ledger. The value itself is nowhere: only the report that was made of it is kept.

    `bucket` is the hour since 1970 in which the bucket of time begins that the report names, and `attempts` counts
    how often it was handed to the network; of `unanswered` of these nobody said what became. `reason` is the name of a
    refusal (wire/refusals.py), what else keeps the report waiting, what became of a report that was taken back, or
    "gateway" for one that is sent only as far as that.
    """

    collection: str
    fingerprint: str
    epsilon: float
    document: str = field(repr=False)  # the spec
    state: str
    id: bytes = b""
    payload: bytes = field(default=b"", repr=False)
    bucket: int | None = None
    reason: str = ""
    attempts: int = 0
    due: float | None = None  # seconds since 1970
    unanswered: int = 0

    @property
    def doubtful(self) -> bool:
        """Whether the report was given up, and may have been counted all the same."""
        return self.state in (REFUSED, EXPIRED) and self.unanswered > 0

    @property
    def sentence(self) -> str:
        """The state in words for the person who answered."""
        known = _BECAUSE.get((self.state, self.reason), SENTENCES[self.state])
        if self.state == FORGOTTEN and self.reason and (self.state, self.reason) not in _BECAUSE:
            return _LOST
        return f"{known} {DOUBT}" if self.doubtful else known

    def to_dict(self) -> dict[str, Any]:
        """The entry as plain data, for JSON."""
        return {
            "collection": self.collection,
            "fingerprint": self.fingerprint,
            "epsilon": self.epsilon,
            "state": self.state,
            "id": self.id.hex() if len(self.id) == ID_BYTES else None,
            "payload": self.payload.hex() or None,
            "bucket": None if self.bucket is None else hour_text(self.bucket),
            "reason": self.reason or None,
            "attempts": self.attempts,
            "sentence": self.sentence,
        }

    def __repr__(self) -> str:
        return brief(self, collection=repr(self.collection), epsilon=self.epsilon, state=self.state)

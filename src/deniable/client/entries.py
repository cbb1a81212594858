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

SENTENCES = {
    BEGUN: "Your answer was interrupted before it was made. Answer again to finish it; it costs nothing more.",
    WAITING: "Your answer is kept on this device and will be sent later.",
    SENT: "Your answer has been delivered.",
    REFUSED: "Your answer is not needed any more: the collector does not take it.",
    EXPIRED: "Your answer could not be delivered in time, so it is not sent any more.",
    WITHDRAWING: "Your answer is forgotten here, and the collector will be asked to delete it.",
    FORGOTTEN: "Your answer is forgotten.",
}


@dataclass(frozen=True)
class Entry:
    """One line of the ledger. The value itself is nowhere: only the report that was made of it is kept.

    `bucket` is the hour since 1970 in which the bucket of time begins that the report names, and `attempts` counts
    how often it was handed to the network. `reason` is the name of a refusal (wire/refusals.py), or what else keeps
    the report waiting.
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

    @property
    def sentence(self) -> str:
        """The state in words for the person who answered."""
        return SENTENCES[self.state]

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

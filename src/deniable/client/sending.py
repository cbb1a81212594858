"""Sending what waits: who answers what, what is tried again and when, and what is given up."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from random import SystemRandom
from typing import NamedTuple

from deniable.client.entries import WITHDRAWING
from deniable.client.errors import Unreachable
from deniable.client.outbox import DAY, MOST, Group, Outbox
from deniable.client.web import Reply, Web
from deniable.core.validate import between
from deniable.wire.frames import ID_BYTES
from deniable.wire.keys import WRITE, Key
from deniable.wire.refusals import REASONS

UNREACHABLE = "unreachable"
# Refusals that are about this client's settings, which may be put right: the reports wait meanwhile.
_SETTINGS = {
    "no-key",
    "unknown-key",
    "wrong-key",
    "wrong-origin",
    "not-found",
    "wrong-method",
    "unsupported-type",
    "not-http",
}
# Refusals that may be about one report of a batch: the others are sent without it.
_DIVISIBLE = {"bad-payload", "bad-id", "too-large", "truncated"}
_GONE = {"no-such-report", "too-old", "conflict"}  # when a report is to be deleted
_LATER_STATUS = {408, 425, 429}
_TOO_LARGE = 413
_random = SystemRandom()


@dataclass(frozen=True)
class Backoff:
    """How long to wait after a failure: `first` seconds, then twice as long each time, up to `longest`.

    Each wait is drawn between half and all of that, so that many devices do not come back at once.
    """

    first: float = 5.0
    longest: float = 3600.0

    def __post_init__(self) -> None:
        between(0, DAY, first=self.first)
        between(0, DAY, longest=self.longest)

    def wait(self, failures: int) -> float:
        """Seconds to wait after so many failures in a row."""
        return _random.uniform(0.5, 1.0) * min(self.longest, self.first * 2.0 ** min(failures - 1, 60))


class Sent(NamedTuple):
    """What one call of `send` did, in reports: acknowledged by the collector, given up, deleted there."""

    sent: int = 0
    refused: int = 0
    withdrawn: int = 0
    trouble: str = ""  # what the last failure was
    next_due: float | None = None  # seconds since 1970; None if nothing waits

    def plus(self, **changes: int) -> Sent:
        """The same with some numbers raised."""
        return self._replace(**{name: getattr(self, name) + more for name, more in changes.items()})

    def then(self, later: Sent) -> Sent:
        """What two calls did together."""
        return later.plus(sent=self.sent, refused=self.refused, withdrawn=self.withdrawn)


class Verdict(NamedTuple):
    """What an answer means for the reports of a request."""

    kind: str  # done, later, fix, split or refused
    reason: str = ""
    pause: float = 0.0
    everybody: bool = False  # whether the whole collector is to be left alone
    clear: bool = False  # whether the collector has said what became of the reports


def delay(most: float) -> float:
    """How long a new report waits: any time up to `most` is equally likely."""
    return _random.uniform(0.0, most)


@dataclass(frozen=True)
class Sender:
    """Sends the reports of one outbox. `key` replaces the keys of the reports, if it is given."""

    outbox: Outbox
    web: Web
    key: Key | None
    backoff: Backoff
    clock: Callable[[], float]
    most: int = MOST

    def send(self, *, hurry: bool = False) -> Sent:
        """Send what is due, until nothing is or the collector fails; with `hurry`, all that waits is due now."""
        started = self.clock()  # what becomes due later is for the next time
        total, (until, failures) = Sent(), self.outbox.pause(started)
        if hurry:
            until = started
            self.outbox.hurry(started)
        while until <= started:
            group = self.outbox.lease(started, self.clock() + self._lease, self.most)
            if group is None:
                break
            total, verdict = self._deliver(group, total)
            if verdict.everybody:
                failures += 1
                until = self.clock() + verdict.pause + self.backoff.wait(failures)
                self.outbox.set_pause(until, failures)
                break
            if failures:
                failures = 0
                self.outbox.set_pause(0.0, 0)
        return total._replace(next_due=self.outbox.next_due(self.clock()))

    @property
    def _lease(self) -> float:
        """Seconds after which a request is over: connecting, sending, and reading to the deadline and one more."""
        return 5 * self.web.timeout

    def _deliver(self, group: Group, total: Sent) -> tuple[Sent, Verdict]:
        """Send one group; halves of it where a report among them is refused."""
        verdict = self._verdict(group)
        if verdict.kind == "split":
            middle = group.frame.n // 2
            total, first = self._deliver(group.part(0, middle), total)
            rest = group.part(middle, group.frame.n)
            if first.everybody:
                self.outbox.postpone(rest.numbers, self.clock(), first.reason)
                return total, first
            return self._deliver(rest, total)
        n, withdrawn = group.frame.n, group.state == WITHDRAWING
        if verdict.kind == "done":
            self.outbox.settle(group, verdict.reason if withdrawn else "")
            return total.plus(**{"withdrawn" if withdrawn else "sent": n}), verdict
        if verdict.kind == "later" and group.expires is not None and self.clock() > group.expires:
            verdict = verdict._replace(kind="refused", reason="too-old")
        if verdict.kind == "refused":
            self.outbox.settle(group, verdict.reason, clear=verdict.clear)
            return total.plus(refused=n)._replace(trouble=verdict.reason), verdict
        least = self.backoff.longest / 2 if verdict.kind == "fix" else 0.0
        wait = max(verdict.pause + self.backoff.wait(group.attempts), least)
        self.outbox.postpone(group.numbers, self.clock() + wait, verdict.reason, clear=verdict.clear)
        return total._replace(trouble=verdict.reason), verdict

    def _verdict(self, group: Group) -> Verdict:
        try:
            reply = self._request(group)
        except Unreachable as error:
            return Verdict("later", f"{UNREACHABLE}: {error}", everybody=True)
        verdict = _read(reply, group)
        # an error of the collector itself may have come after the report was stored
        return verdict._replace(clear=bool(reply.refusal) and reply.status < 500)

    def _request(self, group: Group) -> Reply:
        frame = group.frame
        secret = self.key.secret if self.key is not None else frame.key
        if group.state == WITHDRAWING:
            path = f"/v1/reports/{frame.ids.hex()}?bucket={frame.hour}"
            return self.web.request("DELETE", path, key=Key(WRITE, secret).text)
        if frame.n == 1:
            return self.web.request("POST", "/v1/reports", frame._replace(key=secret).to_bytes())
        batch = frame._replace(key=secret, batch=secrets.token_bytes(ID_BYTES))
        return self.web.request("POST", "/v1/batches", batch.to_bytes())


def _read(reply: Reply, group: Group) -> Verdict:
    """Judge an answer by the reason it names (wire/refusals.py), or by its status where it names none we know."""
    withdrawing, n = group.state == WITHDRAWING, group.frame.n
    if 200 <= reply.status < 300:
        members = reply.members or {}
        if withdrawing and isinstance(members.get("outcome"), str):
            return Verdict("done", members["outcome"])
        if not withdrawing and members.get("accepted") == n:
            return Verdict("done")
        return Verdict("later", f"{UNREACHABLE}: the answer is no collector's", everybody=True)
    reason, pause = reply.refusal, reply.retry_after or 0.0
    everybody = reply.status in _LATER_STATUS or reply.status >= 500
    if withdrawing and reason in _GONE:
        return Verdict("done", reason)
    if reason in _SETTINGS:
        return Verdict("fix", reason, pause)
    if reason in REASONS and REASONS[reason].again:
        return Verdict("later", reason, pause, everybody)
    if reason and not everybody:  # a reason of a newer collector counts as final, as every 4xx does
        return Verdict("split" if n > 1 and reason in _DIVISIBLE else "refused", reason)
    if reply.status == _TOO_LARGE and n > 1:  # a proxy's limit
        return Verdict("split", "too-large")
    what = reason or f"{UNREACHABLE}: status {reply.status} of no collector"
    return Verdict("later", what, pause, everybody=True)

"""What was sent, and in plain words what anybody can conclude from it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from deniable.client.asking import question_of
from deniable.client.entries import BEGUN, EXPIRED, GATEWAY, REFUSED, SENT, WAITING, Entry
from deniable.core.display import at_most
from deniable.core.documents import read_json
from deniable.core.domain.open import Open
from deniable.core.errors import listed
from deniable.heavy_hitters.protocol import HeavyHitters
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.hashing.public_coins import PublicCoin
from deniable.wire.buckets import hour_text
from deniable.wire.payloads import Question

_MOST_VALUES = 1000  # the report is compared with so many values at most
_LARGEST = 500.0  # epsilon whose odds are still a number


_SENT = (
    "What {verb}: the report {payload}, {time}, the random number {id} that keeps it from being counted twice, and the "
    "fingerprint of the question, {fingerprint}...."
)
_MOST_LIKELY = "The report is most likely for {n:,} of {of:,} values: {labels}. It can come from any other."
_COIN = (
    "The value itself is neither sent nor kept. A coin was tossed before the report was made, so that every value "
    "could have led to it."
)
_CONCLUSION = (
    "What anybody can conclude: whatever they believed before, this answer shifts their odds for one value against "
    "another by a factor of at most {odds} (epsilon {epsilon}). Somebody who held two values for equally "
    "likely is right about yours at most {percent}% of the time, instead of 50%."
)
_TOGETHER = (
    "All answers from here have spent epsilon {spent} of at most {cap:g}: together they shift odds by a factor "
    "of at most {odds}."
)
_ALSO = "The collector also sees that this device took part, and the address it sends from."


@dataclass(frozen=True)
class Explanation:
    """The text for people, with the numbers in it.

    `odds` is the factor by which this answer can shift anybody's odds for one value against another, `certainty` the
    share of right guesses that an even guess between two values becomes, `favoured` the values that make the report
    most likely, where they can be listed.
    """

    entry: Entry
    odds: float
    certainty: float
    favoured: tuple[str, ...]
    spent: float
    cap: float
    text: str

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """The explanation as plain data, for JSON."""
        return {
            **self.entry.to_dict(),
            "odds": self.odds,
            "certainty": self.certainty,
            "favoured": list(self.favoured),
            "spent": self.spent,
            "cap": self.cap,
            "text": self.text,
        }


def explained(entry: Entry, spent: float, cap: float) -> Explanation:
    """Explain one answer."""
    question = question_of(read_json(entry.document))
    odds, together = (math.exp(min(epsilon, _LARGEST)) for epsilon in (entry.epsilon, spent))
    certainty = odds / (1 + odds)
    favoured, of = _favoured(entry, question)
    lines = [
        f'The question "{entry.collection}" was answered once. {entry.sentence}',
        *_contents(entry),
        *_spoken(favoured, of),
        _COIN,
        _CONCLUSION.format(odds=at_most(odds), epsilon=at_most(entry.epsilon), percent=_percent(certainty)),
        _TOGETHER.format(spent=at_most(spent), cap=cap, odds=at_most(together)),
        _ALSO,
    ]
    return Explanation(entry, odds, certainty, favoured, spent, cap, "\n".join(lines))


def _contents(entry: Entry) -> list[str]:
    if entry.state == BEGUN or not entry.payload:
        return []
    verb = {SENT: "was sent", WAITING: "will be sent"}.get(entry.state, "was made")
    if entry.reason == GATEWAY:
        verb = "was handed over to a gateway"
    if entry.reason and entry.state in (REFUSED, EXPIRED):
        verb += f" ({entry.reason})"
    facts = {
        "verb": verb,
        "payload": entry.payload.hex(),
        "time": "" if entry.bucket is None else f"the time {hour_text(entry.bucket)}",
        "id": entry.id.hex(),
        "fingerprint": entry.fingerprint[:12],
    }
    return [_SENT.format(**facts)]


def _spoken(favoured: tuple[str, ...], of: int) -> list[str]:
    if not favoured:
        return []
    if len(favoured) == of:
        return ["The report is equally likely for every value."]
    return [_MOST_LIKELY.format(n=len(favoured), of=of, labels=listed(favoured))]


def _favoured(entry: Entry, question: Question) -> tuple[tuple[str, ...], int]:
    """The labels for which the report is most likely, and how many labels there are; none if there are too many."""
    if not entry.payload or isinstance(question, HeavyHitters) or isinstance(question.domain, Open):
        return (), 0
    if question.k > _MOST_VALUES:
        return (), 0
    likely = _likelihoods(entry, question)
    most = max(likely)
    labels = question.domain.all_labels()
    return tuple(str(label) for label, each in zip(labels, likely, strict=True) if each == most), len(labels)


def _likelihoods(entry: Entry, question: Mechanism) -> list[Fraction]:
    if isinstance(question, PublicCoin):
        report = question.decode_class(entry.payload, entry.id)
    else:
        report = question.decode(entry.payload)
    payload = question._payload(report)
    return [question._probability(payload, index) for index in range(question.k)]


def _percent(chance: float) -> str:
    """A chance as an upper bound in percent, short of certainty as long as it is."""
    return next((text for digits in range(3, 10) if (text := at_most(100 * chance, digits)) != "100"), "100")

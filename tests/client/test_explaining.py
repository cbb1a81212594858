"""People read what was sent and what follows from it, in words and numbers that are right."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from math import exp

import pytest

import deniable as dn
from deniable.client import Client
from tests.client.collector import QUESTION, Collector

Device = Callable[..., Client]


def test_the_odds_are_those_of_the_guarantee(device: Device) -> None:
    client = device()
    entry = client.answer("walk")
    found = client.explain()
    assert found.odds == pytest.approx(float(QUESTION.guarantee().ratio), rel=1e-9)
    assert found.certainty == pytest.approx(exp(1) / (1 + exp(1)), rel=1e-6)
    assert "by a factor of at most 2.72 (epsilon 1)" in found.text
    assert "at most 73.2% of the time" in found.text
    assert entry.payload.hex() in found.text
    assert entry.id.hex() in found.text
    assert "will be sent" in found.text
    client.send()
    assert "was sent" in str(client.explain())


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 1.5, 3.0, 5.0, 8.0])
def test_what_is_at_most_so_much_is_rounded_up(collector: Collector, device: Device, epsilon: float) -> None:
    collector.questions = [dn.mechanism("grr", labels=["walk", "bus"], epsilon=epsilon)]
    client = device()
    client.answer("walk")
    text = str(client.explain())
    shown = r"by a factor of at most ([0-9.e+]+)( \(epsilon|\.$)"
    for odds, _ in re.findall(shown, text, re.MULTILINE):  # of this answer, and of all together
        assert exp(epsilon) <= float(odds) <= 1.01 * exp(epsilon)
    assert len(re.findall(shown, text, re.MULTILINE)) == 2
    (percent,) = re.findall(r"at most ([0-9.]+)% of the time", text)
    certainty = 100 / (1 + exp(-epsilon))
    assert certainty <= float(percent) <= min(certainty + 0.1, 99.99)


def test_a_report_is_named_by_what_it_speaks_for_not_by_the_value(device: Device) -> None:
    client = device()
    entry = client.answer("walk")
    label = QUESTION.domain.label(entry.payload[0])
    assert client.explain().favoured == (label,)
    assert f"most likely for 1 of 3 values: {label}." in str(client.explain())


def test_a_report_of_a_public_coin_is_read_with_its_id(collector: Collector, device: Device) -> None:
    question = dn.mechanism("clh", k=40, epsilon=2.0)
    collector.questions = [question]
    client = device()
    entry = client.answer(7)
    report = question.decode_class(entry.payload, entry.id)  # type: ignore[attr-defined]
    expected = [str(value) for value in range(40) if question.supports(report.payload, value)]
    assert list(client.explain().favoured) == expected


def test_answers_add_up(device: Device) -> None:
    for number in range(3):
        device(collection=f"q{number}", spec=QUESTION).answer("bus")
    found = device(collection="q0", spec=QUESTION).explain()
    assert found.spent == pytest.approx(3.0)
    assert "have spent epsilon 3 of at most 10: together they shift odds by a factor of at most 20.1" in found.text


def test_an_explanation_is_plain_data(device: Device) -> None:
    client = device()
    client.answer("walk")
    document = json.loads(json.dumps(client.explain().to_dict()))
    assert document["odds"] == pytest.approx(exp(1))
    assert document["text"] == str(client.explain())
    assert document["spent"] == client.spent()


def test_there_is_nothing_to_explain_before_an_answer(device: Device) -> None:
    with pytest.raises(dn.InvalidArgument, match="answered before"):
        device().explain()


def test_a_forgotten_answer_is_explained_without_its_report(device: Device) -> None:
    client = device()
    entry = client.answer("walk")
    client.forget()
    text = str(client.explain())
    assert entry.id.hex() not in text
    assert "is forgotten" in text
    assert "epsilon 1 of at most 10" in text

"""What the TypeScript client refuses, and with which words: damaged specs, what it lacks, and answers outside."""

from __future__ import annotations

import json
from typing import Any

import pytest

import deniable as dn
from tests.clients.typescript import Client

GRR = dn.mechanism("grr", labels=["yes", "no", "naïve"], epsilon=1.5).spec
SPECS = {
    "grr": GRR,
    "oue": dn.mechanism("oue", k=20, epsilon=1.0).spec,
    "clh": dn.mechanism("clh", k=60, epsilon=1.5).spec,
    "csr": dn.mechanism("csr", k=60, epsilon=1.5).spec,
    "orr": dn.mechanism(
        "orr", domain=dn.Domain.open(key="home"), epsilon=2.0, cohorts=64, buckets=9, candidates=100
    ).spec,
}


def changed(**members: Any) -> dict[str, Any]:
    """The spec of `grr` with other members; None leaves one out."""
    found = {**GRR.to_dict(), **members}
    return {name: value for name, value in found.items() if value is not None}


def refused(client: Client, *sources: Any, **options: Any) -> list[tuple[str, str]]:
    return client.refusals([{"do": "read", "spec": source, **options} for source in sources])


def flipped(data: bytes) -> list[bytes]:
    """The data with each one of its bits changed."""
    return [bytes([*data[:at], data[at] ^ 1 << bit, *data[at + 1 :]]) for at in range(len(data)) for bit in range(8)]


@pytest.mark.parametrize("name", SPECS)
def test_one_changed_bit_in_a_spec_is_refused_by_both(name: str, client: Client) -> None:
    data, fingerprint = SPECS[name].to_json().encode(), SPECS[name].fingerprint
    wrong = flipped(data)
    found = refused(client, *({"hex": each.hex()} for each in wrong), fingerprint=fingerprint)
    assert {code for code, _ in found} <= {"spec", "fingerprint"}
    for each in wrong:
        try:
            made = dn.from_spec(each)
        except dn.DeniableError:
            continue
        assert made.fingerprint != fingerprint


@pytest.mark.parametrize("name", SPECS)
def test_a_changed_digit_of_epsilon_or_of_a_threshold_is_refused_without_a_fingerprint(
    name: str, client: Client
) -> None:
    spec = SPECS[name].to_dict()
    sources = [
        {**spec, "thresholds": {**spec["thresholds"], threshold: number}}
        for threshold, text in spec["thresholds"].items()
        for number in {str(int(text) + 1), str(max(0, int(text) - 1)), "0" + text, text[:-1] + "x"} - {text}
    ]
    sources.append({**spec, "parameters": {**spec["parameters"], "epsilon": spec["parameters"]["epsilon"] + 1e-6}})
    for code, message in refused(client, *sources):
        assert (code, "thresholds must follow" in message) == ("spec", True)


def test_what_python_refuses_in_a_document_is_refused(client: Client) -> None:
    text = GRR.to_json()
    sources = {
        '{"deniable":1,' + text[1:]: "spec must have no member twice",
        text[:-1]: "spec must be JSON in UTF-8",
        text.replace("yes", "\\ud800"): "spec must be Unicode",
        text.replace('"epsilon":1.5', '"epsilon":NaN'): "spec must be JSON in UTF-8",
        text.replace('"epsilon":1.5', '"epsilon":1e999'): "epsilon must be a number from 5e-324 to 50",
        text.replace('"kind":', '"other":null,"kind":'): "other must be a string",
        "[" * 100_000: "spec must be JSON in UTF-8",
        "null": "spec must be a JSON object",
    }
    assert refused(client, *sources) == [("spec", message) for message in sources.values()]
    for source in sources:
        with pytest.raises(dn.DeniableError):
            dn.from_spec(source)
    assert refused(client, {"hex": text.encode("utf-16").hex()}) == [("spec", "spec must be JSON in UTF-8")]


DOMAINS: list[tuple[Any, str]] = [
    ({"kind": "stars"}, "domain kind must be one of categories,integers,open"),
    ({"kind": "constructor", "a": 1}, "domain kind must be one of categories,integers,open"),
    ([], "domain kind must be one of categories,integers,open"),
    ({"kind": "categories"}, "domain has a missing or unknown member: labels"),
    ({"kind": "categories", "labels": ["a", "b"], "low": 0}, "domain has a missing or unknown member: low"),
    (
        {"kind": "categories", "labels": ["a", 1]},
        "labels must be strings, whole numbers, or true and false",
    ),
    (
        {"kind": "categories", "labels": [1, 2**53]},
        "labels must be strings, whole numbers, or true and false",
    ),
    ({"kind": "categories", "labels": ["a", "a"]}, "labels must be distinct"),
    ({"kind": "categories", "labels": ["a", "b"], "other": "a"}, "labels must be distinct"),
    ({"kind": "categories", "labels": ["a"]}, "the number of values must be a number from 2 to 2147483648"),
    ({"kind": "integers", "low": 0.5, "high": 3}, "low must be a whole number"),
    ({"kind": "integers", "low": 5, "high": 3}, f"high must be a number from 5 to {2**53 - 1}"),
    ({"kind": "integers", "low": 0, "high": 2**40}, "the number of values must be a number from 2 to 2147483648"),
    ({"kind": "open", "max_bytes": 9, "key": ""}, "domain must be closed for this mechanism"),
]


@pytest.mark.parametrize(("domain", "message"), DOMAINS, ids=range(len(DOMAINS)))
def test_a_wrong_domain_is_refused_by_both(domain: Any, message: str, client: Client) -> None:
    assert refused(client, changed(domain=domain)) == [("spec", message)]
    with pytest.raises(dn.DeniableError):
        dn.from_spec(changed(domain=domain))


def test_what_this_program_lacks_is_refused_by_name(client: Client) -> None:
    sources = [changed(), changed(version=2), changed(mechanism="warner"), changed(deniable=2)]
    found = [
        refused(client, source, mechanisms=["oue", "grr"] if at else ["oue"])[0] for at, source in enumerate(sources)
    ]
    assert found == [
        ("mechanism", 'this program has no mechanism "grr"; it has oue'),
        ("mechanism", "this program has no such version of the mechanism grr"),
        ("mechanism", 'this program has no mechanism "warner"; it has grr, oue'),
        ("mechanism", "spec has the layout 2; this program reads layout 1"),
    ]


def test_an_epsilon_that_protects_nobody_is_refused(client: Client) -> None:
    for epsilon in (0, -1, 50.1, "1", None):
        ((code, message),) = refused(client, changed(parameters={"epsilon": epsilon}))
        assert code == "spec"
        assert message.startswith("epsilon must be a number from ")


def test_another_document_than_the_one_reviewed_is_refused(client: Client) -> None:
    ((code, message),) = refused(client, changed(), fingerprint="00" * 32)
    assert code == "fingerprint"
    assert message == f"the spec has the fingerprint {GRR.fingerprint}, not the expected {'00' * 32}"


def costly(mechanism: str, k: int, **parameters: Any) -> list[dict[str, Any]]:
    """A spec whose cost is refused before anything is built, and so before its thresholds are compared."""
    domain = {"kind": "integers", "low": 0, "high": k - 1}
    return [changed(mechanism=mechanism, domain=domain, parameters={"epsilon": 1, **parameters})]


_SETS = {"chosen": [0], "zero": False, "cohorts": [0], "root": 2}
_RANDOM = {"modulus": 2**23, "size": 5, "count": 2, "seed": 0}
_COHORTS = {"candidates": 2, "seed": 0}
COSTLY: dict[str, list[Any]] = {
    "a long document": ["x" * (2**21 + 1)],
    "many labels": [changed(domain={"kind": "categories", "labels": [str(i) for i in range(2**16 + 1)]})],
    "many coins": costly("oue", 2**23),
    "many levels": costly("she", 2**17, reach=3),
    "large sets": costly("ss", 2**21, w=5),
    "many moduli": costly("mss", 1000, moduli=[2] * 257, sizes=[1] * 257),
    "many classes to hash to": costly("clh", 2**24, modulus=2**25 + 1, classes=2**23, salt=""),
    "many classes of a set": costly("csr", 2**24, sets={**_SETS, "modulus": 2**25 + 1, "classes": 2**23}, loss=1),
    "a long random set": costly("csr", 2**23, sets=_RANDOM, loss=1),
    "many points": costly("pgr", 2, q=2, t=31, polynomial=[1] * 31),
    "many steps to the points": costly("pgr", 2, q=2**10, t=3, polynomial=[1] * 30),
    "many different reports": costly("blh", 2**31, salt=""),
    "many blocks": costly("design", 2**12, blocks=[[0]] * 1025),
    "many probabilities": costly("matrix", 200, matrix=[[0.005] * 200] * 200),
    "many cells": costly("hcms", 2, cohorts=2**16, buckets=2**11, **_COHORTS),
    "long filters": costly("cms", 2, cohorts=1, buckets=2**23, **_COHORTS),
}


@pytest.mark.parametrize("name", COSTLY)
def test_a_document_that_costs_too_much_is_refused(name: str, client: Client) -> None:
    ((code, message),) = refused(client, *COSTLY[name])
    assert code == "limit"
    assert "above the limit of" in message


def test_answers_are_found_as_python_finds_them_and_never_quoted(client: Client) -> None:
    with_extras = dn.Domain.integers(-3, 5, other=True, no_answer=True)
    given: dict[str, tuple[dn.Domain, list[Any]]] = {
        "labels": (dn.Domain.categories(["a", "1", "ä"]), ["a", "1", "ä"]),
        "numbers": (dn.Domain.categories([7, -2, 0], no_answer=True), [7, -2, 0, None]),
        "truths": (dn.Domain.categories([False, True], other=True), [True, False, 1, 0, "true"]),
        "range": (with_extras, [-3, 0, 5, 6, 0.5, "x", None, "(other)", "(no answer)", True]),
    }
    made = {name: dn.mechanism("grr", domain=domain, epsilon=1.0) for name, (domain, _) in given.items()}
    tasks = [{"do": "choices", "spec": made[name].spec.to_json(), "values": given[name][1]} for name in given]
    for (domain, values), found in zip(given.values(), client.ask(tasks), strict=True):
        assert [int(each) for each in found] == [domain.index(value) for value in values]
    outside = [("labels", "secret"), ("labels", 1), ("labels", None), ("numbers", "7"), ("numbers", 3)]
    tasks = [{"do": "choices", "spec": made[name].spec.to_json(), "values": [value]} for name, value in outside]
    for (_, value), (code, message) in zip(outside, client.refusals(tasks), strict=True):
        assert code == "value"
        name = "other" if value is not None else "no_answer"
        assert message == f'the question does not allow this answer, and has no category "{name}"'


def test_canonical_text_is_the_same_in_both(client: Client) -> None:
    labels = ["\u20ac", "\r", "\u000b", '"\\/', "1", "\u0080", "\U0001f600", "\u2028", "דּ", ""]
    m = dn.mechanism("grr", domain=dn.Domain.categories(labels, other="\x7f"), epsilon=1e-7)
    (found,) = client.ask([{"do": "read", "spec": json.dumps(m.spec.to_dict())}])
    assert found == {"fingerprint": m.fingerprint, "epsilon": 1e-7, "k": 11}

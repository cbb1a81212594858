"""Channels derived from the text of specs are the channels that the code states."""

from __future__ import annotations

import json
import tracemalloc
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable.auditing.exact import code
from deniable.auditing.exact.audit import ExactAudit
from deniable.auditing.exact.derivations import choices, replacement
from deniable.auditing.exact.derivations.draws import bits_of, marked, words_of
from deniable.auditing.exact.derivations.index import DERIVATIONS
from deniable.auditing.exact.specs import audit_text
from deniable.core.domain.open import Open
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.catalogue import ALL
from tests import ROOT
from tests.cli.command import check_refusal, run
from tests.contract import cases

LARGE = [(name, {"k": 22_000, "epsilon": e}) for name in ("grr", "ss", "csr", "pgr", "clh") for e in (0.1, 4.0)]
VECTORS = sorted((ROOT / "vectors").glob("*-*.json"))


def derived(m: Mechanism) -> ExactAudit:
    """The audit of a sound mechanism, which must say what the mechanism says of itself."""
    found = audit_text(m.spec.to_json(), code=False)
    says = m.guarantee()
    assert found.ratio == says.ratio
    assert found.passed
    assert found.spent is not None
    assert found.slack is not None
    assert 0 <= says.epsilon - float(found.spent) < 1e-14
    assert float(found.slack) == pytest.approx(says.slack, rel=1e-9, abs=1e-18)
    return found


@pytest.mark.parametrize(("name", "setting"), cases.small_settings(), ids=str)
def test_small_specs_are_derived_as_the_code_states_them(name: str, setting: dict[str, Any]) -> None:
    m = dn.mechanism(name, **setting)
    found = derived(m)
    if isinstance(m.domain, Open):
        return
    rate = found.channel.rate
    assert rate is not None
    exact = m.reconstruction_rate()
    assert rate >= exact if found.channel.rate_is_bound else rate == exact


def heavy(epsilon: float = 1.0) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(dn.HeavyHitters.new(epsilon=epsilon, max_bytes=5).to_json())
    return document


def test_heavy_hitters_spend_what_their_worst_group_spends() -> None:
    found = dn.audit(heavy(), trials=5000)
    assert found.exact is not None
    assert found.passed
    assert found.exact.ratio == dn.HeavyHitters.new(epsilon=1.0, max_bytes=5).guarantee().ratio
    assert "of one group" in found.skipped
    mixed = heavy()
    mixed["levels"][1] = heavy(2.0)["levels"][1]
    worse = dn.audit(mixed).exact
    assert worse is not None
    assert worse.what.startswith("heavy hitters, 2 groups, of which none is worse than group 2: orr")
    assert dn.audit(mixed, promised=2.0).passed
    assert not dn.audit(mixed, promised=1.5).passed


def test_a_fault_of_any_group_is_one_of_heavy_hitters() -> None:
    broken = heavy()
    broken["levels"][1]["thresholds"]["rejection_bucket"] = "0"
    broken["levels"][0]["parameters"]["epsilon"] = 0.5
    found = dn.audit(broken).exact
    assert found is not None
    assert found.exceeds
    assert any(fault.startswith("group 2: rejection_bucket must be") for fault in found.faults)
    for levels in ([], {}, [{"deniable": 1}], [3], [{}] * 65):
        with pytest.raises(dn.SpecError):
            dn.audit({**broken, "levels": levels})


def test_one_question_is_asked_for_where_heavy_hitters_are_given(tmp_path: Path) -> None:
    path = tmp_path / "hh.json"
    path.write_text(json.dumps(heavy()))
    for command in (("attack", path), ("amplify", path, "--users", 100, "--delta", 1e-6)):
        check_refusal(run(*command), "this is a heavy-hitter spec, not that of one question")


@pytest.mark.parametrize(("name", "setting"), LARGE, ids=str)
def test_large_specs_are_derived_in_closed_form(name: str, setting: dict[str, Any]) -> None:
    assert derived(dn.mechanism(name, **setting)).channel.method == "closed form"


@pytest.mark.parametrize("path", VECTORS, ids=lambda path: path.stem)
def test_published_specs_are_derived_and_their_witnesses_attain_the_ratio(path: Path) -> None:
    m = dn.from_spec(json.loads(path.read_text())["canonical"], limits=None)
    at = derived(m).channel.worst.witness
    assert at is not None or isinstance(m.domain, Open)
    if isinstance(m.domain, Open):
        return
    likely, unlikely = (m.probability(at.report, m.domain.label(index)) for index in (at.value, at.other))
    assert Fraction(likely, unlikely) == m.guarantee().ratio


def test_every_mechanism_has_a_derivation() -> None:
    assert set(DERIVATIONS) == {(name, version) for name, version, *_ in ALL}


def test_a_spec_that_promises_less_than_it_spends_exceeds() -> None:
    document = json.loads(dn.mechanism("sue", k=5, epsilon=1.0).spec.to_json())
    document["parameters"]["epsilon"] = 0.5
    found = audit_text(json.dumps(document), code=False)
    assert found.exceeds
    assert found.slack is not None
    assert -0.51 < found.slack < -0.49


def test_labels_name_the_witness() -> None:
    domain = dn.Domain.categories(["tea", "coffee"], other=True, no_answer=True)
    found = audit_text(dn.mechanism("grr", domain=domain, epsilon=1.0).spec.to_json())
    assert "from 'tea' as from 'coffee'" in str(found)
    assert found.labels == ("tea", "coffee", "(other)", "(no answer)")
    integers = dn.Domain.integers(-3, 4, no_answer=True)
    assert audit_text(dn.mechanism("oue", domain=integers, epsilon=1.0).spec.to_json()).labels[0] == "-3"


def test_the_second_class_of_reports_is_shown_where_there_are_several() -> None:
    found = audit_text(
        dn.mechanism("matrix", k=2, epsilon=2.0, matrix=[[0.6, 0.3, 0.1], [0.2, 0.3, 0.5]]).spec.to_json()
    )
    assert [name for name, _ in found.facts].count("second class") == 1


def test_vectors_that_are_not_there_are_said_to_be_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(code, "FOLDERS", (tmp_path / "none",))
    found = audit_text(dn.mechanism("grr", k=3, epsilon=1.0).spec.to_json())
    assert found.vectors.startswith("not found in ")
    assert found.passed
    monkeypatch.setattr(code, "FOLDERS", (tmp_path,))
    assert "none are published" in audit_text(dn.mechanism("grr", k=3, epsilon=1.0).spec.to_json()).vectors


def test_the_wheel_carries_the_vectors_where_they_are_looked_for() -> None:
    assert '"vectors" = "deniable/vectors"' in (ROOT / "pyproject.toml").read_text()
    assert code.FOLDERS[0] == Path(dn.__file__).parent / "vectors"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"deniable": 2}, '"deniable": 1'),
        ({"mechanism": 7}, "must name its mechanism"),
        ({"mechanism": "nonsense"}, "no derivation is known for nonsense version 1"),
        ({"version": 9}, "no derivation is known for grr version 9"),
        ({"thresholds": {}}, "must have the threshold 'truth'"),
        ({"thresholds": {"truth": 5}}, "must be an integer in a string"),
        ({"thresholds": {"truth": str(2**64)}}, "must lie from 0 to"),
        ({"thresholds": []}, "must have an object 'thresholds'"),
        ({"parameters": {}}, "must promise an epsilon"),
        ({"parameters": {"epsilon": -1}}, "must promise an epsilon"),
        ({"domain": {"kind": "circle"}}, "a domain of categories"),
        ({"domain": {"kind": "integers", "low": 0, "high": 0}}, "two values or more"),
        ({"domain": {"kind": "integers", "low": 0}}, "a whole number 'high'"),
    ],
    ids=str,
)
def test_documents_that_are_no_specs_are_refused(change: dict[str, Any], reason: str) -> None:
    document = json.loads(dn.mechanism("grr", k=3, epsilon=1.0).spec.to_json()) | change
    with pytest.raises(dn.SpecError, match=reason.replace("(", r"\(")):
        audit_text(json.dumps(document))


def test_texts_that_are_not_json_are_refused() -> None:
    for text in ("{", '{"deniable": 1, "deniable": 1}', '{"deniable": NaN}', "[]", "[" * 100_000):
        with pytest.raises(dn.SpecError):
            audit_text(text)


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("orappor", {"k": 100, "epsilon": 2.0, "hashes": 8, "buckets": 16, "cohorts": 12}),
        ("orappor", {"k": 200, "epsilon": 2.0, "hashes": 8, "buckets": 16, "cohorts": 20}),
        ("orappor", {"k": 300, "epsilon": 2.0, "hashes": 2, "buckets": 64, "cohorts": 12}),
        ("hcms", {"k": 300, "epsilon": 2.0, "cohorts": 64, "buckets": 16}),
        ("orr", {"k": 300, "epsilon": 2.0, "cohorts": 64, "buckets": 8}),
    ],
    ids=str,
)
def test_a_ratio_has_a_witness_that_attains_it_or_is_called_a_bound(name: str, setting: dict[str, Any]) -> None:
    m = dn.mechanism(name, **setting)
    found = audit_text(m.spec.to_json(), code=False)
    for level in found.channel.levels:
        at = level.witness
        if at is not None:
            likely, unlikely = (m.probability(at.report, m.domain.label(index)) for index in (at.value, at.other))
            assert Fraction(likely, unlikely) == level.ratio
    assert found.is_bound == (setting["k"] == 200)  # so many pairs of filters that not all are compared
    assert dn.audit(m).passed
    if found.is_bound:
        assert found.channel.levels[1].witness is not None
        lines = dict(found.facts)
        assert lines["largest ratio"].startswith("at most 7.38")
        assert lines["epsilon spent"].startswith("at most ")
        assert lines["witness"].startswith("none found")
        assert "times as likely" in lines["second class"]
        assert found.to_dict()["witness"] is None
        document = json.loads(m.spec.to_json())
        document["parameters"]["epsilon"] = 1.0
        assert "MAY EXCEED" in audit_text(json.dumps(document), code=False).verdict


@pytest.mark.parametrize("name", ["csr", "hcms", "olh", "orr"])
def test_a_search_that_finds_no_witness_leaves_the_bound(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (choices, replacement):
        monkeypatch.setattr(module, "_witness", lambda *_: None)
    m = dn.mechanism(name, k=2000, epsilon=1.0)
    found = audit_text(m.spec.to_json())
    assert found.ratio == m.guarantee().ratio
    assert found.is_bound
    assert found.passed
    small = audit_text(dn.mechanism(name, k=5, epsilon=1.0).spec.to_json())
    assert not small.is_bound or small.channel.method != "enumeration"
    assert small.passed


def test_filters_of_millions_of_bits_are_audited_in_little_memory() -> None:
    m = dn.mechanism("orappor", k=2**20, epsilon=2.0)
    document = json.loads(m.spec.to_json())
    document["domain"]["high"] = document["parameters"]["buckets"] = document["parameters"]["candidates"] = 2**24
    document["domain"]["high"] -= 1
    tracemalloc.start()
    found = audit_text(json.dumps(document), code=False)
    assert "cohort 0, bits set: " in str(found)
    assert tracemalloc.get_traced_memory()[1] < 2**27
    tracemalloc.stop()


def test_bits_are_words_and_places_and_back() -> None:
    bits = sum(1 << place for place in (0, 5, 63, 64, 130, 191))
    assert words_of(bits, 3) == (1 | 1 << 5 | 1 << 63, 1, 1 << 2 | 1 << 63)
    assert words_of(bits, 2) == words_of(bits, 3)[:2]
    assert (bits_of(words_of(bits, 4)), bits_of(())) == (bits, 0)
    assert (marked(bits), marked(0)) == ([0, 5, 63, 64, 130, 191], [])

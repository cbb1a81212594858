"""Damaged and hostile specs, matrices and numbers: one clear line, in no time."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

import deniable as dn
from deniable.auditing.exact.arithmetic import exponential_below
from deniable.auditing.exact.derivations import index
from deniable.auditing.exact.specs import audit_text
from tests.cli.command import check_refusal, run, succeed

Change = Callable[[dict[str, Any]], None]


def parameters(**changed: Any) -> Change:
    return lambda document: document["parameters"].update(changed)


def moduli(document: dict[str, Any]) -> None:
    document["parameters"]["moduli"][0] = 10**9


def sets(**changed: Any) -> Change:
    return lambda document: document["parameters"]["sets"].update(changed)


HOSTILE: list[tuple[str, Change, str]] = [
    ("clh", parameters(modulus=15, classes=2), "modulus must be a prime, got 15"),
    ("clh", parameters(modulus=2**61 - 1, classes=2), "'modulus' of at most"),
    ("clh", parameters(modulus=10**12 + 39, classes=2), "'modulus' of at most"),
    ("pgr", parameters(q=6), "q must be a power of a prime, got 6"),
    ("pgr", parameters(polynomial=[1]), "must have 6 coefficients, got 1"),
    ("pgr", parameters(t=40, q=2), "less than 2^64 points"),
    ("orr", parameters(seed=2**70), "'seed' of at most"),
    ("hcms", parameters(seed=2**64), "'seed' of at most"),
    ("orappor", parameters(seed=-1), "a whole number 'seed'"),
    ("orappor", parameters(hashes=10**6), "'hashes' of at most"),
    ("orappor", parameters(buckets=2**40), "'buckets' of at most"),
    ("orappor", parameters(cohorts=2**31, hashes=64), "hash functions"),
    ("rhr", parameters(bits=10**6), "'bits' of at most"),
    ("mss", moduli, "moduli must be at most"),
    ("csr", sets(modulus=2**62), "a modulus of at most"),
    ("csr", sets(root=0), "a whole number 'root'"),
    ("she", parameters(reach=10**12), "'reach' of at most"),
    ("ss", parameters(w=10**12), "'w' of at most"),
]
LARGE = ("oue", "sue", "the", "she", "ss")


def changed(name: str, change: Change, **setting: Any) -> str:
    document = json.loads(dn.mechanism(name, **{"k": 20, "epsilon": 1.0, **setting}).spec.to_json())
    change(document)
    return json.dumps(document)


@pytest.mark.parametrize(("name", "change", "reason"), HOSTILE, ids=lambda each: each if isinstance(each, str) else "")
def test_hostile_parameters_are_refused(name: str, change: Change, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "hostile.json"
    path.write_text(changed(name, change))
    outcome = run("audit", path)
    check_refusal(outcome, reason)
    assert "hostile.json: " in outcome.err


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("high", [2**30, 2**36])
def test_domains_too_large_to_list_are_refused(name: str, high: int) -> None:
    domain = dn.Domain.integers(0, 9)
    text = changed(name, lambda document: document["domain"].update(high=high), domain=domain, k=None)
    with pytest.raises(dn.SpecError, match="at most"):
        audit_text(text)


def test_a_tiny_epsilon_and_a_huge_one_are_exact() -> None:
    assert exponential_below(Fraction(1e-320)) == 1
    assert exponential_below(Fraction(5e-324)) == 1
    assert exponential_below(Fraction(999)) > 10**433
    found = audit_text(changed("grr", parameters(epsilon=1e-320)), code=False)
    assert found.exceeds


def test_whatever_a_derivation_meets_is_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: object) -> Any:
        return next(iter(()))

    monkeypatch.setitem(index.DERIVATIONS, ("grr", 1), fails)  # type: ignore[arg-type]
    with pytest.raises(dn.SpecError, match=r"the parameters of grr must fit together \(StopIteration"):
        audit_text(dn.mechanism("grr", k=3, epsilon=1.0).spec.to_json())


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("value,a,b\nx,1e-99999999,1\ny,0.5,0.5\n", "be a probability such as 0.25"),
        ("1e-99999999,1\n0.5,0.5\n", "be a probability such as 0.25"),
        ("value,a,b\nx,1e99999999,1\ny,0.5,0.5\n", "be a probability such as 0.25"),
        (f"value,a,b\nx,0.{'3' * 5000},1\ny,0.5,0.5\n", "be a probability such as 0.25"),
        ("0,1\n0.5,0.5\n0.25,0.75\n", "write 0.0 and 1.0"),
        ("0,1,2\n0.5,0.5,0\n0.25,0.5,0.25\n", "which cannot be told from 0, 1"),
    ],
    ids=range(6),
)
def test_cells_that_cannot_be_read_are_refused(text: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text(text)
    check_refusal(run("audit", path), reason)


def test_a_row_of_certain_probabilities_is_written_with_a_point(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text("0.0,1.0\n0.5,0.5\n")
    assert "a matrix of 2 values" in run("audit", path).out
    path.write_text("0,1e0\n5e-1,0.5\n")
    assert "a matrix of 2 values" in run("audit", path).out
    with pytest.raises(dn.InvalidArgument, match="be a probability"):
        dn.audit([[Decimal("1e-99999999"), 1], [1, 0]])


def test_an_empty_parquet_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.parquet"
    parquet.write_table(pa.table({"a": pa.array([], pa.float64())}), path)
    check_refusal(run("audit", path), "have a row for each of two values")


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "spec.json"
    path.write_text(dn.mechanism("grr", k=3, epsilon=1.0).spec.to_json())
    return path


@pytest.mark.parametrize(
    ("command", "options", "reason"),
    [
        ("audit", ("--trials", "inf"), "must be a whole number"),
        ("audit", ("--trials", "nan"), "must be a whole number"),
        ("audit", ("--trials", "1e30"), "trials must be a whole number from 1000 to"),
        ("audit", ("--alpha", "0"), "--alpha can only be used with --trials"),
        ("audit", ("--alpha", "0", "--trials", "1e4"), "alpha must lie strictly between"),
        ("audit", ("--by-id",), "by_id must be given with trials"),
        ("audit", ("--values", "3"), "values must be left out"),
        ("audit", ("--bits", "3"), "bits must be left out"),
        ("attack", ("--level", "2"), "--level can only be used with --reports"),
    ],
)
def test_options_without_an_effect_are_refused(command: str, options: tuple[str, ...], reason: str, spec: Path) -> None:
    check_refusal(run(command, spec, *options), reason)


def test_trials_that_cannot_be_made_are_spoken_of(spec: Path) -> None:
    document = json.loads(spec.read_text())
    document["parameters"]["epsilon"] = 2.0
    spec.write_text(json.dumps(document))
    outcome = run("audit", spec, "--trials", 20_000)
    assert outcome.code == 1
    assert "no trials: clients refuse this spec" in outcome.out
    assert json.loads(run("audit", spec, "--trials", 20_000, "--json").out)["skipped"].startswith("clients refuse")


def test_ids_that_a_report_needs_are_refused_by_amplify(tmp_path: Path, spec: Path) -> None:
    path = tmp_path / "clh.json"
    path.write_text(dn.mechanism("clh", k=20, epsilon=1.0).spec.to_json())
    given = ("--users", 10_000, "--delta", 1e-6)
    assert "lies inside the report (encode)" in succeed("amplify", path, *given)
    check_refusal(run("amplify", path, *given, "--by-id"), "means something only beside the id")
    assert "nobody can link them to people" in succeed("amplify", spec, *given, "--by-id")

"""`deniable estimate` with sums, means and quantiles, and values that are true or false."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import deniable as dn
from tests.cli.command import check_refusal, run, succeed


@pytest.fixture
def summary(tmp_path: Path) -> Path:
    m = dn.mechanism("oue", domain=dn.Domain.integers(18, 22), epsilon=2.0)
    (tmp_path / "spec.json").write_text(m.spec.to_json())
    path = tmp_path / "ages.summary"
    path.write_bytes(dn.simulate(m, [50, 60, 70, 80, 90], seed=1).to_bytes())
    return path


def answers(summary: Path) -> dn.Estimate:
    m = dn.from_spec(summary.with_name("spec.json"))
    return m.estimate(dn.Summary.from_bytes(summary.read_bytes()))


def test_derived_answers_are_those_of_python(summary: Path) -> None:
    asked = ("--sum", "18,19", "--sum", "22", "--mean", "--quantile", 0.5)
    estimate = answers(summary)
    wanted = [estimate.sum([18, 19], 0.9), estimate.sum(22, 0.9), estimate.mean(0.9), estimate.quantile(0.5, 0.9)]
    out = succeed("estimate", summary, *asked, "--level", 0.9)
    assert out.splitlines()[-4:] == [str(each) for each in wanted]
    document = json.loads(succeed("estimate", summary, *asked, "--level", 0.9, "--json"))
    assert document["derived"] == [each.to_dict() for each in wanted]
    assert "derived" not in json.loads(succeed("estimate", summary, "--json"))


@pytest.mark.parametrize(
    ("option", "reason"),
    [
        (("--sum", "18,23"), "label must be one of the 5 labels, got 23"),
        (("--sum", "young"), "label must be one of the 5 labels, got 'young'"),
        (("--sum", "18,18"), "labels must be distinct"),
        (("--quantile", 1), "share must lie strictly between 0 and 1"),
    ],
)
def test_what_cannot_be_derived_is_refused(summary: Path, option: tuple[str, ...], reason: str) -> None:
    check_refusal(run("estimate", summary, *option), reason)


def test_true_and_false_are_read_from_text(tmp_path: Path) -> None:
    m = dn.mechanism("grr", labels=[True, False], epsilon=20.0)
    spec, values, reports = (tmp_path / name for name in ("spec.json", "values.csv", "reports.parquet"))
    spec.write_text(m.spec.to_json())
    values.write_text("agrees\ntrue\nFalse\nTRUE\n")
    succeed("privatize", values, "--spec", spec, "--seed", 1, "-o", reports)
    document = json.loads(succeed("estimate", reports, "--spec", spec, "--sum", "true", "--json"))
    assert [row["label"] for row in document["values"]] == [True, False]
    assert document["derived"][0]["value"] == pytest.approx(2 / 3, abs=1e-3)
    reports = tmp_path / "others.parquet"
    values.write_text("agrees\nyes\n")
    check_refusal(
        run("privatize", values, "--spec", spec, "-o", reports, "--show-values"),
        "must be one of the 2 labels (True, False), got 'yes'",
    )
    values.write_text("true\nfalse\n")
    check_refusal(run("privatize", values, "--spec", spec, "-o", reports), "is a value of the domain")

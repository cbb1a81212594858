"""An estimate by label, as plain data and as a data frame; booleans as labels; specs from files and dicts."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import deniable as dn


@pytest.fixture
def estimate() -> dn.Estimate:
    m = dn.mechanism("grr", labels=["chrome", "edge", "firefox"], epsilon=2.0)
    return m.estimate(dn.simulate(m, [500, 300, 200], seed=1))


def test_an_estimate_is_read_by_label(estimate: dn.Estimate) -> None:
    assert len(estimate) == 3
    assert [row.label for row in estimate] == ["chrome", "edge", "firefox"]
    assert estimate["edge"] == estimate.rows()[1]
    with pytest.raises(
        dn.InvalidArgument, match=r"^label must be one of the 3 labels, got 'Chrom'\. Did you mean 'chrome'\?"
    ):
        estimate["Chrom"]


def test_an_integer_is_a_label_and_no_position() -> None:
    m = dn.mechanism("grr", domain=dn.Domain.integers(18, 20, other=True), epsilon=2.0)
    estimate = m.estimate(dn.simulate(m, [5, 6, 7, 8], seed=1))
    assert estimate[18] == estimate.rows()[0]
    assert estimate["(other)"] == estimate.rows()[3]
    for unknown in (0, 21, "21", None):
        with pytest.raises(dn.InvalidArgument, match="be one of the 4 labels"):
            estimate[unknown]  # type: ignore[index]


def test_an_estimate_as_plain_data(estimate: dn.Estimate) -> None:
    document = json.loads(json.dumps(estimate.to_dict(0.9)))
    assert (document["n"], document["level"], document["method"]) == (1000, 0.9, estimate.method)
    assert [row["label"] for row in document["values"]] == ["chrome", "edge", "firefox"]
    assert document["values"][0]["low"] == estimate.interval(0.9).low[0]


def test_polars_reads_the_arrow_table(estimate: dn.Estimate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", SimpleNamespace(from_arrow=lambda table: table.to_pydict()))
    assert estimate.to_polars()["label"] == ["chrome", "edge", "firefox"]
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(dn.MissingExtra, match="pip install 'polars'"):
        estimate.to_polars()


def test_true_and_false_are_labels_in_any_container() -> None:
    m = dn.mechanism("grr", domain=dn.Domain.categories([True, False], no_answer=True), epsilon=20.0)
    answers = [True, False, True, None]
    for values in (answers, np.array(answers, object), pa.array(answers), tuple(answers)):
        assert m.domain.indices(values).tolist() == [0, 1, 0, 2]
    assert m.domain.indices(np.array([False, True])).tolist() == [1, 0]
    assert [m.domain.index(value) for value in (True, np.True_, np.bool_(False), "(no answer)")] == [0, 0, 1, 2]
    assert dn.from_spec(m.spec.to_json()) == m
    assert '"labels":[true,false]' in m.spec.to_json()
    estimate = m.estimate(m.privatize([True] * 30 + [False] * 10, seed=1))
    assert estimate[True].users == pytest.approx(30, abs=0.1)
    assert float(estimate.sum([True, False])) == pytest.approx(1.0, abs=0.01)
    assert "True" in str(estimate)


def test_true_is_no_number_and_a_number_is_not_true() -> None:
    truths, numbers = (dn.Domain.categories(labels) for labels in ([True, False], [0, 1]))
    for domain, wrong in ((truths, 1), (truths, 0.0), (truths, "True"), (truths, np.int64(1)), (numbers, True)):
        with pytest.raises(dn.ValueOutsideDomain):
            domain.index(wrong)
        with pytest.raises(dn.ValueOutsideDomain):
            domain.indices([wrong])
    with pytest.raises(dn.ValueOutsideDomain):
        truths.indices(pa.array([0, 1]))
    for mixed in ([True, 0], [True, "no"]):
        with pytest.raises(dn.InvalidArgument, match="or True and False"):
            dn.Domain.categories(mixed)
    one, other = (dn.mechanism("grr", domain=domain, epsilon=1.0) for domain in (truths, numbers))
    assert one.fingerprint != other.fingerprint


def test_a_spec_is_read_from_a_path_or_a_dict(tmp_path: Path) -> None:
    m = dn.mechanism("grr", labels=["yes", "no"], epsilon=1.0)
    path = tmp_path / "spec.json"
    path.write_text(m.spec.to_json())
    assert dn.from_spec(path) == dn.from_spec(json.loads(m.spec.to_json())) == dn.from_spec(m.spec.to_dict()) == m
    with pytest.raises(dn.SpecError, match=r"Did you mean the file, from_spec\(Path\('spec.json'\)\)"):
        dn.from_spec("spec.json")
    with pytest.raises(FileNotFoundError):
        dn.from_spec(tmp_path / "none.json")

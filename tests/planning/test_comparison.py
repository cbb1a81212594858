"""All mechanisms on one footing: the table, its numbers, its picture."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

import deniable as dn
from deniable.mechanisms.forecasts.built import NO_FORMULA


@pytest.fixture(scope="module")
def found() -> dn.Comparison:
    return dn.compare(60, 1.0, n=2000, simulated=True, timed=True, repeats=4)


def test_every_mechanism_has_a_row_sorted_by_loss_or_is_left_out_for_a_reason(found: dn.Comparison) -> None:
    served = [row.mechanism for row in found]
    assert sorted([*served, *found.left_out, *NO_FORMULA]) == dn.list_mechanisms()
    losses = [row.loss for row in found]
    assert losses == sorted(losses)
    assert len(served) >= len(dn.list_mechanisms()) - 1 - len(NO_FORMULA)


def test_formula_and_simulation_agree(found: dn.Comparison) -> None:
    for row in found:
        m = dn.mechanism(row.mechanism, k=60, epsilon=1.0)
        assert row.error == pytest.approx(math.sqrt(m.variance(0.0, 2000)), rel=0.02)
        # the mean of 4 x 60 squared errors of about unit variance varies by about 0.1 of itself
        assert row.simulated_loss == pytest.approx(row.loss, rel=0.6)
        assert row.bits == m.report_bits
        assert float(m.reconstruction_rate()) <= row.attack * (1 + 1e-9)
        assert row.spent == pytest.approx(m.guarantee().epsilon, abs=1e-6)
        assert row.client_ns > 0
        assert row.server_ms >= 0


def test_it_prints_and_converts(found: dn.Comparison, tmp_path: Path) -> None:
    text = str(found)
    assert text.splitlines()[0].split()[:2] == ["mechanism", "rms"]
    assert all(row.mechanism in text for row in found)
    assert "design" not in text
    document = json.loads(found.to_json())
    assert [row["mechanism"] for row in document["mechanisms"]] == [row.mechanism for row in found]
    assert document["left_out"] == found.left_out
    found.plot(tmp_path / "costs.png")
    assert (tmp_path / "costs.png").stat().st_size > 1000
    with pytest.raises(dn.InvalidArgument, match="path must end in"):
        found.plot(tmp_path / "costs.html")


@pytest.mark.parametrize(
    "arguments",
    [
        {"k": 1, "epsilon": 1.0},
        {"k": 5, "epsilon": -1.0},
        {"k": 5, "epsilon": 1.0, "n": 0},
        {"k": 5, "epsilon": 1.0, "names": ["xyz"]},
        {"k": 5, "epsilon": 1.0, "repeats": 0},
    ],
)
def test_a_question_that_makes_no_sense_is_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(dn.InvalidArgument):
        dn.compare(**arguments)  # type: ignore[arg-type]


def test_mechanisms_that_cannot_serve_the_question_are_one_line_and_the_reasons_are_kept() -> None:
    found = dn.compare(2, 1.0, n=100, names=["grr", "csr", "design"])
    assert [row.mechanism for row in found] == ["grr"]
    assert "use grr" in found.left_out["csr"].lower()
    assert str(found).splitlines()[2:] == ["left out, not possible for this setting (2 of 3): csr, design"]


def test_a_table_without_rows_says_why() -> None:
    assert str(dn.compare(7, 1.0, names=["design"])).startswith("design: Its error depends on the blocks")


def test_nothing_is_said_about_mechanisms_left_out_if_there_are_none() -> None:
    assert len(str(dn.compare(5, 1.0, n=100, names=["grr"])).splitlines()) == 2


def test_nothing_is_measured_unless_asked_for() -> None:
    found = dn.compare(labels=["a", "b", "c"], epsilon=1.0, n=1000)
    assert found.k == 3
    assert all(math.isnan(row.client_ns) and math.isnan(row.simulated_loss) for row in found)
    assert str(found).splitlines()[0].split() == ["mechanism", "rms", "error", "loss", "bits", "attack", "spent"]
    assert json.loads(found.to_json())["mechanisms"][0]["server_ms"] is None


class Louder(dn.RandomizedResponse):
    """A mechanism that is not registered."""

    name = "louder"


def test_classes_and_mechanisms_from_outside_take_part() -> None:
    design = dn.BlockDesign(
        7, 1.0, blocks=[[0, 1, 3], [1, 2, 4], [2, 3, 5], [3, 4, 6], [4, 5, 0], [5, 6, 1], [6, 0, 2]]
    )
    found = dn.compare(7, 1.0, n=500, names=["GRR", Louder, design], simulated=True, repeats=2)
    errors = {row.mechanism: row.error for row in found}
    assert set(errors) == {"grr", "louder", "design"}
    assert errors["louder"] == pytest.approx(errors["grr"])
    assert errors["design"] == pytest.approx(math.sqrt(design.variance(0.0, 500)))
    other = dn.compare(8, 1.0, names=[design, "grr"])
    assert "be made for k=8" in other.left_out["design"]

"""All mechanisms on one footing: the table, its numbers, its picture."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

import deniable as dn


@pytest.fixture(scope="module")
def found() -> dn.Comparison:
    return dn.compare(60, 1.0, n=2000, repeats=4)


def test_every_mechanism_has_a_row_sorted_by_loss(found: dn.Comparison) -> None:
    assert {row.mechanism for row in found} == set(dn.list_mechanisms())
    served = [row.loss for row in found if not row.refused]
    assert served == sorted(served)
    assert len(served) >= len(dn.list_mechanisms()) - 2


def test_formula_and_simulation_agree(found: dn.Comparison) -> None:
    for row in found:
        if not row.refused:
            m = dn.mechanism(row.mechanism, k=60, epsilon=1.0)
            assert row.error == pytest.approx(math.sqrt(m.variance(0.0, 2000)))
            # the mean of 4 x 60 squared errors of about unit variance varies by about 0.1 of itself
            assert row.simulated_loss == pytest.approx(row.loss, rel=0.6)
            assert row.bits == m.report_bits
            assert row.attack == pytest.approx(float(m.reconstruction_rate()))
            assert row.client_ns > 0
            assert row.server_ms >= 0


def test_it_prints_and_converts(found: dn.Comparison, tmp_path: Path) -> None:
    text = str(found)
    assert text.splitlines()[0].split()[:2] == ["mechanism", "rms"]
    assert all(name in text for name in dn.list_mechanisms())
    document = json.loads(found.to_json())
    assert [row["mechanism"] for row in document["mechanisms"]] == [row.mechanism for row in found]
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


def test_a_mechanism_that_cannot_serve_the_question_says_why() -> None:
    rows = {row.mechanism: row for row in dn.compare(2, 1.0, n=100, names=["grr", "csr"], repeats=1)}
    assert not rows["grr"].refused
    assert "use grr" in rows["csr"].refused

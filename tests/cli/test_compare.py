"""The comparison on the command line."""

from __future__ import annotations

import json

import deniable as dn
from tests.cli.command import check_refusal, run, succeed

ASKED = ("compare", "--k", 2, "--epsilon", 1, "--n", 100, "--only", "grr,csr,design")


def test_mechanisms_that_do_not_support_the_setting_are_one_line_below_the_table() -> None:
    rows = [line.split()[1] for line in succeed(*ASKED).splitlines() if line.startswith("│")]
    assert rows == ["grr"]
    assert "left out, not possible for this setting (2 of 3): csr, design" in " ".join(succeed(*ASKED).split())
    assert "must be" not in succeed(*ASKED)


def test_the_document_keeps_the_reason_for_each() -> None:
    found = json.loads(succeed(*ASKED, "--json"))
    assert [row["mechanism"] for row in found["mechanisms"]] == ["grr"]
    assert found["left_out"] == dict(dn.compare(2, 1.0, n=100, names=["csr", "design"]).left_out)
    assert "blocks that you give it" in found["left_out"]["design"]


def test_a_mechanism_that_cannot_take_part_is_refused_with_the_reason() -> None:
    refused = run("compare", "--k", 57, "--epsilon", 1, "--only", "design")
    check_refusal(refused, "design: Its error depends on the blocks that you give it")


def test_simulations_and_times_are_measured_when_asked_for() -> None:
    asked = ("compare", "--labels", "a,b,c", "--epsilon", 1, "--users", 100, "--only", "grr", "--json")
    (plain,) = json.loads(succeed(*asked))["mechanisms"]
    (measured,) = json.loads(succeed(*asked, "--simulate", "--time"))["mechanisms"]
    assert plain["simulated_loss"] is plain["client_ns"] is None
    assert measured["simulated_loss"] > 0
    assert measured["client_ns"] > 0

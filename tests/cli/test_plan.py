"""Planning on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import deniable as dn
from tests.cli.command import check_refusal, run, succeed


def test_the_plan_is_the_one_python_makes_and_the_spec_is_written(tmp_path: Path) -> None:
    spec = tmp_path / "spec.json"
    printed = succeed("plan", "--k", 100, "--epsilon", 1, "--margin", "1%", "-o", spec)
    plan = dn.plan(domain=dn.Domain.integers(0, 99), epsilon=1.0, margin=0.01)
    assert printed == f"{plan}\n"
    assert dn.from_spec(spec.read_text()) == plan.mechanism


def test_the_document_has_the_numbers_and_the_simulation() -> None:
    asked = ("plan", "--labels", "a,b,c", "--epsilon", 1, "--users", 500, "--verify", "--json")
    document = json.loads(succeed(*asked))
    assert (document["mechanism"], document["n"]) == ("grr", 500)
    assert document["verification"]["simulated"] == pytest.approx(document["verification"]["predicted"], rel=0.5)


def test_open_strings_are_planned_for() -> None:
    printed = succeed("plan", "--open", "--candidates", 500, "--epsilon", 2, "--users", 10_000)
    assert printed.startswith("orr: 500 candidates")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("--k 100 --epsilon 1 --margin 1x", "'1x' is not a share"),
        ("--k 100 --epsilon 1 --candidates 5", "--candidates can only be used with --open"),
        ("--epsilon 1", "the domain must be given once"),
        ("--k 22000 --epsilon 2 --max-bits 5", "be at least 15 here"),
        ("--k 100 --epsilon 1 --users 1000 --margin 1%", "It takes 137,999 users, or epsilon 4.441"),
    ],
)
def test_what_cannot_be_planned_is_refused_in_one_line(options: str, reason: str) -> None:
    check_refusal(run("plan", *options.split()), reason)


def test_a_new_spec_says_what_was_chosen(tmp_path: Path) -> None:
    spec = tmp_path / "spec.json"
    outcome = run("spec", "new", "--k", 22_000, "--epsilon", 2, "-o", spec)
    assert outcome.code == 0
    assert outcome.err.startswith("deniable: chose pgr: the least error for these values at epsilon 2, in 16 bits")
    assert dn.from_spec(spec.read_text()).name == "pgr"
    assert run("spec", "new", "--k", 5, "--epsilon", 2, "-m", "SS").err == ""


def test_shares_may_be_percentages(tmp_path: Path) -> None:
    spec = tmp_path / "spec.json"
    succeed("spec", "new", "--k", 5, "--epsilon", 2, "-m", "grr", "-o", spec)
    number = succeed("users-needed", "--spec", spec, "--margin", 0.01)
    assert succeed("users-needed", "--spec", spec, "--margin", "1%") == number

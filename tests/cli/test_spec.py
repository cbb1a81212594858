"""New specs: every kind of domain, and any parameter of any mechanism."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable.core.limits import setup_text
from tests.cli.command import run, succeed


@pytest.mark.parametrize(
    ("arguments", "domain"),
    [
        (["--k", 5], dn.Domain.integers(0, 4)),
        (["--k", 5, "--other"], dn.Domain.integers(0, 4, other=True)),
        (["--low", -3, "--high", 3, "--no-answer"], dn.Domain.integers(-3, 3, no_answer=True)),
        (["--labels", "1,2"], dn.Domain.categories(["1", "2"])),
    ],
)
def test_a_spec_can_be_made_for_any_domain(arguments: list[object], domain: dn.Domain) -> None:
    made = dn.Spec.from_json(succeed("spec", "new", *arguments, "--epsilon", 1))
    assert made.domain == domain


def test_labels_can_come_from_a_file_with_one_a_line(tmp_path: Path) -> None:
    (tmp_path / "labels.txt").write_bytes("\ufeffja\r\nnein\r\n".encode())
    made = dn.Spec.from_json(succeed("spec", "new", "--labels-file", tmp_path / "labels.txt", "--epsilon", 1))
    assert made.domain.all_labels() == ["ja", "nein"]


@pytest.mark.parametrize(
    ("name", "options", "parameters"),
    [
        ("ss", ["w=5"], {"w": 5}),
        ("csr", ["padding=false"], {"padding": False}),
        ("csr", ["max_bits=6", "padding=true"], {"max_bits": 6, "padding": True}),
        ("olh", ["g=3"], {"g": 3}),
        ("clh", ["salt=winter"], {"salt": "winter"}),
        ("clh", ["salt=a=b"], {"salt": "a=b"}),
        ("clh", ['salt="7"'], {"salt": "7"}),
        ("the", ["theta=0.75"], {"theta": 0.75}),
        ("design", ["blocks=[[0,1,3],[1,2,4],[2,3,5],[3,4,6],[4,5,0],[5,6,1],[6,0,2]]"], None),
        ("orappor", ["cohorts=8", "buckets=16", "hashes=2"], {"cohorts": 8, "buckets": 16, "hashes": 2}),
    ],
)
def test_any_parameter_of_a_mechanism_can_be_set(
    name: str, options: list[str], parameters: dict[str, Any] | None
) -> None:
    k = 7 if name == "design" else 40
    given = [word for option in options for word in ("--set", option)]
    made = dn.Spec.from_json(succeed("spec", "new", "--k", k, "--epsilon", 1, "--mechanism", name, *given))
    if parameters is None:
        parameters = {"blocks": json.loads(options[0].removeprefix("blocks="))}
    assert made == dn.mechanism(name, domain=dn.Domain.integers(0, k - 1), epsilon=1.0, **parameters).spec


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ("-m ss --set v=5", "--set v: ss has no such parameter. It takes w.\n"),
        ("-m oue --set w=5", "--set w: oue has no such parameter. It takes no parameters.\n"),
        ("-m olh --set domain=5", "--set domain: olh has no such parameter. It takes g, salt.\n"),
        ("-m olh --set epsilon=5", "--set epsilon: olh has no such parameter"),
        ("-m olh --set name=5", "--set name: olh has no such parameter"),
        ("-m olh --set g", "--set must have the form NAME=VALUE, got 'g'"),
        ("-m olh --set g=3 --set g=4", "--set g: the parameter is given twice"),
        ("-m olh --set g=many", "g must be a whole number from 2 to 2147483648, got 'many'"),
        ("-m olh --set salt=5", "salt must be a string, got 5"),
        ("-m magic --set g=3", "mechanism must be one of"),
    ],
)
def test_a_parameter_that_does_not_fit_is_refused_with_those_that_do(arguments: str, reason: str) -> None:
    code, out, error = run("spec", "new", "--k", 40, "--epsilon", 1, *arguments.split())
    assert (code, out) == (2, "")
    assert error.startswith("deniable: error: ")
    assert reason in error
    assert error.count("\n") == 1


def test_an_expected_number_of_candidates_is_a_parameter_like_any_other() -> None:
    arguments = ("spec", "new", "--open", "--epsilon", 2)
    assert succeed(*arguments, "--candidates-expected", 50) == succeed(*arguments, "--set", "candidates=50")
    twice = run(*arguments, "--candidates-expected", 50, "--set", "candidates=60")
    assert "--set candidates: the parameter is given twice" in twice.err


def test_python_too_says_which_parameters_a_mechanism_takes() -> None:
    with pytest.raises(dn.InvalidArgument, match=r"parameters must be known to ss, got \['v'\]\. It takes w\."):
        dn.mechanism("ss", k=40, epsilon=1.0, w=5, v=3)


def test_what_a_spec_costs_is_shown(tmp_path: Path) -> None:
    m = dn.mechanism("oue", k=2**20, epsilon=1.0)
    (tmp_path / "spec.json").write_text(m.spec.to_json())
    lines = [line.split(maxsplit=1) for line in succeed("spec", "show", tmp_path / "spec.json").splitlines() if line]
    said = {words[0]: words[1] for words in lines if len(words) == 2}
    assert said["memory"].strip() == str(m.memory())
    assert m.memory().summary == 2**23
    assert "summary 8 MiB" in said["memory"]
    assert said["setup"].strip() == setup_text(m.setup_seconds)
    facts = json.loads(succeed("spec", "show", tmp_path / "spec.json", "--json"))
    assert facts["memory"] == m.memory()._asdict()
    assert facts["setup_seconds"] == m.setup_seconds

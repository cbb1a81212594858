"""Attacks and shuffling on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from tests.cli.command import check_refusal, run, succeed

LABELS = ["a", "b", "c", "d"]


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "spec.json"
    path.write_text(dn.mechanism("oue", labels=LABELS * 1, epsilon=1.0).spec.to_json())
    return path


def test_everything_is_on_one_screen_and_in_one_document(spec: Path, tmp_path: Path) -> None:
    printed = succeed("attack", spec, "--targets", "b,c", "--plot", tmp_path / "repeats.png")
    assert len(printed.splitlines()) < 40
    assert all(heading in printed for heading in ("One report", "Fresh reports", "False reports"))
    assert (tmp_path / "repeats.png").read_bytes().startswith(b"\x89PNG")
    document = json.loads(succeed("attack", spec, "--targets", "2", "--repeats", 5, "--json"))
    m = dn.from_spec(spec.read_text())
    assert document["poisoning"]["together"] == dn.poisoning(m, 2).together
    assert document["averaging"]["right"] == list(dn.averaging(m, 5).right)
    assert document["reconstruction"]["with_report"] == dn.reconstruction(m).with_report


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("prior.csv", "label,share\na,70%\nb,0.2\nc,0.1\n"),
        ("prior.json", '{"a": 0.7, "b": 0.2, "c": 0.1}'),
        ("prior.json", "[0.7, 0.2, 0.1, 0]"),
    ],
)
def test_a_prior_is_read_from_a_file(spec: Path, tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    document = json.loads(succeed("attack", spec, "--prior", tmp_path / name, "--json"))
    expected = dn.reconstruction(dn.from_spec(spec.read_text()), [0.7, 0.2, 0.1, 0.0])
    assert document["reconstruction"]["with_report"] == pytest.approx(expected.with_report, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("prior.csv", "a,0.5\nb,0.4\n", "prior must sum to 1, got 0.9"),
        ("prior.csv", "a,0.5\na,0.5\n", "line 2 names a label for the second time"),
        ("prior.csv", "a,0.5\nb;0.5\n", "line 2 must be a label and a share"),
        ("prior.csv", "a,0.5\nx,0.5\n", "label must be one of the 4 labels"),
        ("prior.json", "{", "this is not JSON"),
        ("prior.json", "3", "a prior must be an object"),
    ],
)
def test_a_wrong_prior_is_refused_in_one_line(spec: Path, tmp_path: Path, name: str, text: str, reason: str) -> None:
    (tmp_path / name).write_text(text)
    check_refusal(run("attack", spec, "--prior", tmp_path / name), reason)


def test_liars_are_found_in_files_and_the_exit_code_says_so(tmp_path: Path) -> None:
    m = dn.mechanism("oue", k=20, epsilon=1.0)
    spec, honest, lies = (tmp_path / name for name in ("spec.json", "honest.parquet", "lies.csv"))
    spec.write_text(m.spec.to_json())
    rows = np.array(m.privatize(np.arange(3000) % 20, seed=2).data)
    write(honest, dn.Reports(rows, m.fingerprint))
    rows[:300] = 2**20 - 1
    write(lies, dn.Reports(rows, m.fingerprint))
    assert "no alarm" in succeed("attack", spec, "--reports", honest)
    found = run("attack", spec, "--reports", lies)
    assert (found.code, found.err) == (1, "")
    assert "ALARM" in found.out
    assert json.loads(run("attack", spec, "--reports", lies, "--json").out)["detection"]["alarm"] is True


def write(path: Path, reports: dn.Reports) -> None:
    from deniable.cli.io.reports import writing_reports

    with writing_reports(path, reports[:0]) as write_batch:
        write_batch(reports)


def test_a_matrix_with_too_many_pairs_has_the_other_answers(tmp_path: Path) -> None:
    rows = np.random.default_rng(4).uniform(1, 2, (12, 12)) + 3 * np.eye(12)
    rows /= rows.sum(axis=1, keepdims=True)
    m = dn.mechanism("matrix", k=12, epsilon=3.0, matrix=rows.tolist())
    (tmp_path / "spec.json").write_text(m.spec.to_json())
    printed = succeed("attack", tmp_path / "spec.json")
    assert "not computed: mechanism must state the law of its reports" in printed
    assert "One false report moves a count" in printed
    found = dn.amplify(m, n=10_000, delta=1e-6)
    assert found.bound == "clones"
    assert found.notes


def test_what_cannot_be_tested_is_refused_in_one_line(spec: Path, tmp_path: Path) -> None:
    m = dn.from_spec(spec.read_text())
    summary = tmp_path / "today.summary"
    summary.write_bytes(m.summarize(m.privatize(LABELS)).to_bytes())
    check_refusal(run("attack", spec, "--reports", summary), "the reports themselves are needed")
    check_refusal(run("attack", spec, "--targets", "a,x"), "label must be one of the 4 labels")
    check_refusal(run("attack", spec, "--targets", "9"), "targets must be a whole number from 1 to 4")
    check_refusal(run("attack", spec, "--plot", tmp_path / "a.html"), "path must end in .png, .svg or .pdf")


def test_the_amplification_is_the_one_python_finds(spec: Path) -> None:
    m = dn.from_spec(spec.read_text())
    printed = succeed("amplify", spec, "--users", 10_000, "--delta", 1e-6)
    assert printed == f"{dn.amplify(m, n=10_000, delta=1e-6)}\n"
    document = json.loads(succeed("amplify", "--local", 1, "-n", 10_000, "--epsilon", 0.1, "--liars", "5%", "--json"))
    assert document["delta"] == dn.amplify(1.0, n=10_000, epsilon=0.1, liars=0.05).delta
    assert document["honest"] == 9500


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("--local 1 --users 100 --delta 0", "No shuffle gives delta 0 below the local epsilon"),
        ("--local 1 --users 1 --delta 1e-6", "n must be at least 2 honest senders"),
        ("--local 1 --users 100", "give --delta to find epsilon, or --epsilon to find delta"),
        ("--users 100 --delta 1e-6", "give a spec, or --local for any mechanism"),
        ("--local 1 --delta 1e-6", "--users must be given"),
    ],
)
def test_a_wrong_question_is_refused_in_one_line(options: str, reason: str) -> None:
    check_refusal(run("amplify", *options.split()), reason)

"""What people type by mistake, and the one line that helps them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable.cli.terminal import done
from tests.cli.command import check_refusal, run, succeed
from tests.cli.test_program import COMMANDS


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A spec, values, reports, counts and noisy counts."""
    monkeypatch.chdir(tmp_path)
    Path("values.csv").write_text("habit,age,country\ndaily,66,NL\nnever,4,BE\n")
    Path("upper.csv").write_text("habit\nDAILY\n")
    Path("counts.csv").write_text("habit,people\ndaily,30\nnever,12\n")
    mechanism = dn.mechanism("grr", labels=["daily", "weekly", "monthly", "never"], epsilon=1.0)
    Path("spec.json").write_text(mechanism.spec.to_json())
    succeed("privatize", "values.csv", "--column", "habit", "--spec", "spec.json", "-o", "reports.csv")
    succeed("release", "counts.csv", "--epsilon", 1, "-o", "noisy.csv")


STUMBLES = {
    "privatize values.csv --spec spec.json -o r.csv": "Choose one with --column: 'habit', 'age', 'country'",
    "privatize values.csv --column Habit --spec spec.json -o r.csv": "Did you mean 'habit'?",
    "privatize upper.csv --spec spec.json -o r.csv": "4 labels (daily, weekly, monthly, never), got another value. A",
    "privatize upper.csv --spec spec.json -o r.csv --show-values": "monthly, never), got 'DAILY'. Did you mean 'daily'",
    "privatize values.csv --column country --spec spec.json -o r.csv": "A spec made with --other has a category",
    "privatize nosuch.csv --spec spec.json -o r.csv": "nosuch.csv: No such file or directory",
    "privatize values.csv --column habit --spec values.csv -o r.csv": "values.csv: spec is not JSON\n",
    "privatize values.csv --column habit --spec spec.json -o r.xlsx": "reports are written to .parquet or .csv files",
    "privatize values.csv --column habit --spec spec.json -o reports.csv": "spends epsilon 1 again, 2 in total",
    "estimate values.csv --spec spec.json": "These look like values: run deniable privatize first.",
    "summarize values.csv --spec spec.json -o s.summary": "These look like values: run deniable privatize first.",
    "estimate reports.csv --method mlee": "got 'mlee'. Did you mean 'mle'?",
    "estimate reports.csv --level 95": "level must lie strictly between 0 and 1, got 95.0. For 95% give 0.95.",
    "estimate reports.csv --target user": "got 'user'. Did you mean 'users'?",
    "users-needed --spec spec.json --margin x%": "'x%' is not a share. Give a number such as 0.01, or a percentage",
    "users-needed --spec spec.json": "give --margin or --detect, and only one of them",
    "spec new --k 5 --epsilon 1 -m oeu": "Did you mean 'oue'?",
    "spec new --k 5 --epsilon 1 -m design": "design has no default: give its blocks, such as [[0, 1], [0, 2], [1, 2]].",
    "spec new --k 5 --labels a,b --epsilon 1": "the domain must be given once, got --labels, --k",
    "spec chekc spec.json": "Did you mean 'check'?",
    "privatise values.csv": "Did you mean 'privatize'?",
    "ask medain noisy.csv": "Did you mean 'median', 'mean'?",
    "ask median noisy.csv --at 3": "No such option: --at",
    "ask entropy reports.csv": "this file holds reports, not noisy counts. Use deniable estimate.",
    "heavy-hitters find reports.csv --spec spec.json": "this is the spec of one question, for estimate or decode",
    "release counts.csv --column peple --epsilon 1 -o n.csv": "Did you mean 'people'?",
    "release values.csv --epsilon 1 -o n.csv": "looks like one row per person",
    "estimate reports.csv reports.csv": "reports.csv: this file is given twice",
}


@pytest.mark.parametrize("line", STUMBLES)
def test_a_stumble_is_answered_in_one_line_that_helps(line: str) -> None:
    check_refusal(run(*line.split()), STUMBLES[line])


def test_names_of_mechanisms_may_be_in_capitals() -> None:
    assert json.loads(succeed("spec", "new", "--k", 5, "--epsilon", 1, "-m", "GRR"))["mechanism"] == "grr"


@pytest.mark.parametrize("command", ["", "spec", "ask", *COMMANDS])
def test_every_command_has_a_short_option_for_help_and_no_line_is_cut(command: str) -> None:
    text = succeed(*command.split(), "-h")
    assert text == succeed(*command.split(), "--help")
    listed = text.partition("Commands:")[2]
    assert not [line for line in listed.splitlines() if line.endswith("...")]


def test_the_version_has_a_short_option() -> None:
    assert succeed("-V") == succeed("--version")


SHARES = [
    ("estimate reports.csv --level 95%", "estimate reports.csv --level 0.95"),
    ("estimate reports.csv --level 95%", "estimate reports.csv"),
    ("users-needed --spec spec.json --margin 1%", "users-needed --spec spec.json --margin 0.01"),
    ("users-needed --spec spec.json --detect 2% --power 90%", "users-needed --spec spec.json --detect .02 --power .9"),
    ("ask quantile noisy.csv --share 25% --level 90%", "ask quantile noisy.csv --share 0.25 --level 0.9"),
]


@pytest.mark.parametrize(("percent", "number"), SHARES)
def test_shares_may_be_percentages(percent: str, number: str) -> None:
    assert succeed(*percent.split()) == succeed(*number.split())


def test_answers_are_also_given_as_json() -> None:
    listed = json.loads(succeed("mechanisms", "--json"))
    assert {each["name"] for each in listed} == set(dn.list_mechanisms())
    assert next(each for each in listed if each["name"] == "ss")["parameters"] == ["w"]
    needed = json.loads(succeed("users-needed", "--spec", "spec.json", "--margin", "1%", "--json"))
    assert needed == {"users": int(succeed("users-needed", "--spec", "spec.json", "--margin", "1%"))}
    checked = json.loads(succeed("spec", "check", "spec.json", "reports.csv", "--json"))
    fingerprint = dn.Spec.from_json(Path("spec.json").read_bytes()).fingerprint
    assert [each["fingerprint"] for each in checked] == [fingerprint] * 2
    assert [each["kind"] for each in checked] == ["spec", "data"]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("estimate reports.csv --level 95 --json", "InvalidArgument"),
        ("estimate values.csv --spec spec.json --json", "MalformedReport"),
        ("estimate nosuch.csv --spec spec.json --json", "FileNotFoundError"),
        ("ask median noisy.csv --json --nope", "NoSuchOption"),
        ("users-needed --spec spec.json --json", "CommandError"),
    ],
)
def test_with_json_an_error_is_a_json_object(line: str, kind: str) -> None:
    outcome = run(*line.split())
    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (2, "", 1)
    found = json.loads(outcome.err)
    assert (found["kind"], found["code"]) == (kind, 2)
    plain = run(*line.replace(" --json", "").split())
    assert plain.err == f"deniable: error: {found['error']}\n"


@pytest.mark.parametrize(
    ("size", "shown"), [(0, "0 bytes"), (999, "999 bytes"), (1734, "1.73 kB"), (1_700_000, "1.7 MB")]
)
def test_what_was_written_is_said_on_a_terminal(
    size: int, shown: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("big.parquet").write_bytes(bytes(size))
    done("5,000,000 reports", Path("big.parquet"))
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    done("5,000,000 reports", Path("big.parquet"))
    done("5,000,000 reports", Path("-"))
    assert capsys.readouterr().err == f"5,000,000 reports -> big.parquet, {shown}\n"


@pytest.mark.parametrize("command", ["privatize", "summarize"])
def test_nothing_is_said_in_a_pipe(command: str) -> None:
    inputs: dict[str, list[Any]] = {
        "privatize": ["values.csv", "--column", "habit", "-o", "more.csv"],
        "summarize": ["reports.csv", "-o", "s.summary"],
    }
    outcome = run(command, *inputs[command], "--spec", "spec.json")
    assert outcome == (0, "", "")


@pytest.mark.filterwarnings("default")
def test_a_large_epsilon_is_warned_of_in_one_line() -> None:
    outcome = run("spec", "new", "--k", 4, "-m", "grr", "--epsilon", 10, "-o", "weak.json")
    assert outcome.code == 0
    assert outcome.err.startswith("deniable: warning: epsilon 10 protects little: a guess of the value")
    assert outcome.err.count("\n") == 1

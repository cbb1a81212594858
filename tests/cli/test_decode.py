"""The command line with open strings: a spec, reports, and which candidates are found in them."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import deniable as dn
from tests.cli.command import run, succeed

WORDS = [f"word-{place}" for place in range(40)]
COUNTS = [round(40_000 / (place + 1)) for place in range(30)] + [0] * 10  # the last ten are absent
SPEC = ("--open", "--epsilon", 4, "--set", "cohorts=64", "--set", "buckets=32", "--candidates-expected", 100)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("open")
    succeed("spec", "new", *SPEC, "-o", folder / "spec.json")
    succeed("spec", "new", "--k", 5, "--epsilon", 1, "-o", folder / "closed.json")
    values = [word for word, count in zip(WORDS, COUNTS, strict=True) for _ in range(count)]
    pa.parquet.write_table(pa.table({"word": values}), folder / "words.parquet")
    succeed("privatize", folder / "words.parquet", "--spec", folder / "spec.json", "--seed", 1, "-o", folder / "r.csv")
    succeed("summarize", folder / "r.csv", "--spec", folder / "spec.json", "-o", folder / "all.summary")
    (folder / "candidates.txt").write_text("\n".join(WORDS) + "\n")
    (folder / "candidates.csv").write_text("rank,word\n" + "\n".join(f"{i},{word}" for i, word in enumerate(WORDS)))
    (folder / "blank.txt").write_text("\n\n")
    (folder / "latin.txt").write_bytes("schön\n".encode("latin-1"))
    (folder / "long.txt").write_text("x" * 300)
    (folder / "reserved.txt").write_text("(unlisted)\n")
    pa.parquet.write_table(pa.table({"number": [1, 2, 3]}), folder / "numbers.parquet")
    return folder


def test_an_open_spec_is_the_one_python_makes(folder: Path) -> None:
    parameters = {"cohorts": 64, "buckets": 32, "candidates": 100}
    expected = dn.mechanism("orr", domain=dn.Domain.open(), epsilon=4.0, **parameters)
    assert dn.Spec.from_json((folder / "spec.json").read_bytes()) == expected.spec
    limits = succeed("spec", "new", "--open", "--epsilon", 1, "--max-bytes", 9, "--key", "mine", "--other")
    assert dn.Spec.from_json(limits).domain == dn.Domain.open(max_bytes=9, key="mine", other=True)


def test_an_open_spec_can_be_shown(folder: Path) -> None:
    assert "any string of up to 256 bytes" in succeed("spec", "show", folder / "spec.json")
    shown = json.loads(succeed("spec", "show", folder / "spec.json", "--json"))
    assert (shown["values"], shown["reconstruction_rate"], shown["standard_errors"]) == (None, None, [])


@pytest.mark.parametrize("options", [[], ["--method", "selected"], ["--complete"], ["--rate", 0.2, "--level", 0.8]])
def test_what_is_decoded_is_what_python_decodes(folder: Path, options: list[object]) -> None:
    files = (folder / "all.summary", "--spec", folder / "spec.json", "--candidates", folder / "candidates.txt")
    found = json.loads(succeed("decode", *files, "--json", *options))
    mechanism = dn.from_spec((folder / "spec.json").read_bytes())
    assert isinstance(mechanism, dn.HashedResponse)
    given = dict(zip(map(str, options[::2]), options[1::2], strict=False)) if len(options) > 1 else {}
    rate, level = float(given.get("--rate", 0.05)), float(given.get("--level", 0.95))  # type: ignore[arg-type]
    expected = mechanism.estimate(
        dn.Summary.from_bytes((folder / "all.summary").read_bytes()),
        "selected" if "selected" in options else None,
        candidates=WORDS,
        complete="--complete" in options,
    )
    rows = [row._asdict() for row in expected.present(rate, level) if row.label != "(unlisted)"]
    assert found["present"] == rows
    assert (found["found"], found["candidates"], found["rate"]) == (len(rows), len(WORDS), rate)
    assert (found["unlisted"] is None) == ("--complete" in options)
    assert {row["label"] for row in rows} >= set(WORDS[:25])


def test_reports_and_candidates_come_from_any_kind_of_file(folder: Path) -> None:
    expected = None
    pa.parquet.write_table(pa.table({"word": WORDS}), folder / "candidates.parquet")
    for reports in ("r.csv", "all.summary"):
        for name, more in (("txt", []), ("csv", ["--column", "word"]), ("parquet", [])):
            found = succeed(
                "decode", folder / reports, "--spec", folder / "spec.json", "--json",
                "--candidates", folder / f"candidates.{name}", *more,
            )  # fmt: skip
            assert found == (expected := expected or found)


def test_repeated_candidates_are_dropped_with_a_warning_and_blank_lines_skipped(folder: Path) -> None:
    text = "\n\n".join([*WORDS, *WORDS[:3]]).encode()
    files = (folder / "all.summary", "--spec", folder / "spec.json", "--json")
    outcome = run("decode", *files, "--candidates", "-", stdin=text)
    assert outcome.code == 0
    assert "3 repeated candidates" in outcome.err
    assert outcome.out == succeed("decode", *files, "--candidates", folder / "candidates.txt")


def test_what_is_found_is_printed_written_and_drawn(folder: Path, tmp_path: Path) -> None:
    table, picture = tmp_path / "all.csv", tmp_path / "top.png"
    out = succeed(
        "decode", folder / "all.summary", "--spec", folder / "spec.json", "--candidates", folder / "candidates.txt",
        "--top", 3, "-o", table, "--plot", picture,
    )  # fmt: skip
    text = " ".join(out.split())
    assert "candidates are present" in text
    assert "at most 5% of the strings called present are absent" in text
    assert "strings that are not candidates" in text
    assert "simulated" in text
    assert "word-2" in text
    assert "word-3 " not in text
    found = pa.csv.read_csv(table)
    assert found["label"].to_pylist() == [*WORDS, "(unlisted)"]
    assert found["present"].to_pylist()[:25] == [True] * 25
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_spec_beside_the_reports_is_found_by_its_fingerprint(folder: Path, tmp_path: Path) -> None:
    named = ("decode", folder / "all.summary", "--candidates", folder / "candidates.txt")
    assert succeed(*named) == succeed(*named, "--spec", folder / "spec.json")
    (tmp_path / "alone.summary").write_bytes((folder / "all.summary").read_bytes())
    (tmp_path / "other.json").write_text("{}")
    outcome = run("decode", tmp_path / "alone.summary", "--candidates", folder / "candidates.txt")
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1
    assert "Give --spec" in outcome.err
    assert "--spec must be given" in run("decode", "-", "--candidates", folder / "candidates.txt").err


def test_strings_that_nobody_listed_are_counted_together(folder: Path) -> None:
    half = "\n".join(WORDS[1:]).encode()
    found = json.loads(
        succeed(
            "decode", folder / "all.summary", "--spec", folder / "spec.json", "--candidates", "-", "--json", stdin=half
        )
    )
    assert found["unlisted"]["low"] < COUNTS[0] / sum(COUNTS) < found["unlisted"]["high"]


WRONG = {
    "estimate all.summary --spec spec.json": "Use deniable decode --candidates FILE",
    "decode all.summary --spec closed.json --candidates candidates.txt": "Use deniable estimate",
    "decode all.summary --spec spec.json": "Missing option '--candidates'",
    "decode all.summary --spec spec.json --candidates nothing.txt": "nothing.txt: No such file",
    "decode all.summary --spec spec.json --candidates blank.txt": "blank.txt: there are no candidates",
    "decode all.summary --spec spec.json --candidates latin.txt": "latin.txt: not UTF-8",
    "decode all.summary --spec spec.json --candidates long.txt": "candidates must be a string, or bytes, of at most",
    "decode all.summary --spec spec.json --candidates reserved.txt": "candidates must be distinct and not",
    "decode all.summary --spec spec.json --candidates numbers.parquet": "candidates must be a string",
    "decode all.summary --spec spec.json --candidates candidates.csv": "several columns. Choose one with --column",
    "decode all.summary --spec spec.json --candidates candidates.txt --column a": "read line by line",
    "decode all.summary --spec spec.json --candidates candidates.txt --method guess": "method must be one of",
    "decode all.summary --spec spec.json --candidates candidates.txt --rate 2": "rate must lie strictly",
    "decode all.summary --spec spec.json --candidates candidates.txt -o out.xlsx": "an estimate is written to",
    "decode all.summary --spec spec.json --candidates all.summary": "is given both as candidates and as reports",
    "decode - --spec spec.json --candidates -": "only once",
    "decode r.csv --spec closed.json --candidates candidates.txt": "Use deniable estimate",
    "spec new --k 5 --epsilon 1 --max-bytes 4 -o out.json": "--max-bytes can only be used with --open",
    "spec new --k 5 --open --epsilon 1 -o out.json": "must be given once",
    "spec new --open --epsilon 1 -m grr -o out.json": "domain must be closed for grr",
    "spec new --open --epsilon 1 --set hashes=2 -o out.json": "--set hashes: orr has no such parameter",
}  # fmt: skip


@pytest.mark.parametrize("arguments", WRONG)
def test_a_wrong_input_is_refused_in_one_line(arguments: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    before = sorted(folder.iterdir())
    outcome = run(*arguments.split())
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("deniable: error: ")
    assert outcome.err.count("\n") == 1
    assert "unexpected" not in outcome.err
    assert WRONG[arguments] in outcome.err
    assert sorted(folder.iterdir()) == before

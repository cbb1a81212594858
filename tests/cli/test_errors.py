"""Whatever is wrong, a command says so in one line, ends with code 2 and leaves no file behind."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

import deniable as dn
from tests.cli.command import check_refusal, listing, run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of two specs, and damaged ones."""
    folder = tmp_path_factory.mktemp("files")
    mine, other = (dn.mechanism("grr", labels=["yes", "no"], epsilon=epsilon) for epsilon in (1.0, 2.0))
    (folder / "spec.json").write_text(mine.spec.to_json())
    (folder / "other.json").write_text(other.spec.to_json())
    truth = str(mine.thresholds["truth"])
    (folder / "weakened.json").write_text(mine.spec.to_json().replace(truth, str(int(truth) + 1)))
    (folder / "cut.json").write_text(mine.spec.to_json()[:50])
    (folder / "newer.json").write_text(mine.spec.to_json().replace('"deniable":1', '"deniable":2'))
    (folder / "values.csv").write_text("user,answer\n1,yes\n2,no\n")
    (folder / "stray.csv").write_text("answer\nyes\nperhaps\n")
    (folder / "headless.csv").write_text("yes\nno\n")
    (folder / "ragged.csv").write_text("a,b\nyes,1\nno\n")
    (folder / "twice.csv").write_text("a,a\nyes,no\n")
    (folder / "latin.csv").write_bytes("antwort\nja\nschön\n".encode("latin-1"))
    (folder / "latin-header.csv").write_bytes("schön\nyes\n".encode("latin-1"))
    (folder / "empty.csv").touch()
    (folder / "null-bytes.csv").write_bytes(bytes(100))
    pa.parquet.write_table(pa.table({"answer": ["yes", "no"] * 50}), folder / "values.parquet")
    pa.parquet.write_table(pa.table({"report": pa.array([0, 1], pa.uint32())}), folder / "no-metadata.parquet")
    reports = mine.privatize(["yes"] * 100, seed=0)
    pa.parquet.write_table(reports.to_arrow(), folder / "reports.parquet")
    (folder / "cut.parquet").write_bytes((folder / "reports.parquet").read_bytes()[:200])
    whole = bytearray((folder / "reports.parquet").read_bytes())
    whole[-30:-10] = bytes(20)
    (folder / "damaged.parquet").write_bytes(whole)
    (folder / "reports.csv").write_text(f"report@{mine.fingerprint}\n0\n1\n")
    (folder / "impossible.csv").write_text(f"report@{mine.fingerprint}\n0\n2\n")
    (folder / "words.csv").write_text(f"report@{mine.fingerprint}\n0\nyes\n")
    (folder / "gap.csv").write_text(f"n,report@{mine.fingerprint}\n1,0\n2,\n")
    summary = mine.summarize(reports).to_bytes()
    (folder / "all.summary").write_bytes(summary)
    (folder / "cut.summary").write_bytes(summary[:-1])
    (folder / "damaged.summary").write_bytes(summary[:-40] + b"!" + summary[-39:])
    (folder / "none.summary").write_bytes(mine.empty_summary().to_bytes())
    (folder / "labels.txt").write_text("a\n\nb\n")
    (folder / "subfolder.csv").mkdir()
    return folder


WRONG = {
    # usage
    "frobnicate": "No such command",
    "spec": "Missing command",
    "estimat all.summary": "Did you mean 'estimate'",
    "privatize": "Missing",
    "privatize values.csv --spec spec.json": "Missing option '--output'",
    "privatize values.csv --spec spec.json -o out.csv --sed 3": "No such option",
    "privatize values.csv --spec spec.json -o out.csv --seed soon": "Invalid value for '--seed'",
    "privatize values.csv --spec spec.json -o out.csv --seed -1": "Invalid value for '--seed'",
    "privatize - --spec spec.json -o out.csv --seed 9223372036854775808": "seed must be a whole number",
    "estimate all.summary --spec spec.json --top 0": "Invalid value for '--top'",
    "estimate - - --spec spec.json": "only once",
    "demo --users 3 --out out": "Invalid value for '--users'",
    "demo --epsilon 0 --out out --no-pictures": "epsilon must be positive",
    "demo --no-pictures --out values.csv": "values.csv: File exists",
    "demo --no-pictures --out values.csv/out": "values.csv/out: Not a directory",
    # new specs
    "spec new --epsilon 1 -o out.json": "must be given once",
    "spec new --epsilon 1 --k 3 --labels a,b -o out.json": "must be given once",
    "spec new --epsilon 0 --k 3 -o out.json": "epsilon must be positive",
    "spec new --epsilon nan --k 3 -o out.json": "epsilon must be a positive number",
    "spec new --epsilon 51 --k 3 -o out.json": "epsilon must be at most 50",
    "spec new --epsilon 1 --k 1 -o out.json": "k must be a whole number from 2",
    "spec new --epsilon 1 --low 3 -o out.json": "--low and --high",
    "spec new --epsilon 1 --low 3 --high 2 -o out.json": "high must be at least low",
    "spec new --epsilon 1 --labels a,b,a -o out.json": "labels must be distinct",
    "spec new --epsilon 1 --labels a,,b -o out.json": "empty label",
    'spec new --epsilon 1 --labels a,"b -o out.json': "--labels has a quotation mark out of place",
    'spec new --epsilon 1 --labels a,"b"c -o out.json': "--labels has a quotation mark out of place",
    "spec new --epsilon 1 --labels-file labels.txt -o out.json": "labels.txt: line 2 is empty",
    "spec new --epsilon 1 --labels-file latin.csv -o out.json": "latin.csv: not UTF-8",
    "spec new --epsilon 1 --k 3 --mechanism magic -o out.json": "mechanism must be one of",
    "spec new --epsilon 1 --k 3 -o nowhere/out.json": "nowhere/out.json: cannot be written",
    "spec new --epsilon 1 --k 3 -o subfolder.csv": "subfolder.csv: Is a directory",
    # specs
    "spec show nothing.json": "nothing.json: No such file",
    "spec show .": "Is a directory",
    "spec show cut.json": "cut.json: spec is not JSON",
    "spec check weakened.json": "weakened.json: the spec's thresholds must follow from",
    "spec check newer.json": "newer.json: spec has version 2",
    "spec check values.parquet": "values.parquet: spec is not JSON",
    "spec check spec.json other.json cut.json": "cut.json: spec is not JSON",
    "spec check other.json reports.csv": "reports.csv: the file belongs to another spec",
    "spec check other.json reports.parquet": "reports.parquet: the file belongs to another spec",
    "spec check other.json all.summary": "all.summary: the file belongs to another spec",
    "spec check spec.json values.csv": "values.csv: exactly one column must be called report@",
    "users-needed --spec spec.json": "give --margin or --detect, and only one of them",
    "users-needed --spec spec.json --margin 2": "margin must lie strictly between 0 and 1",
    # values
    "privatize nothing.csv --spec spec.json -o out.csv": "nothing.csv: No such file",
    "privatize . --spec spec.json -o out.csv": "Is a directory",
    "privatize values.csv --spec nothing.json -o out.csv": "nothing.json: No such file",
    "privatize values.csv --spec weakened.json -o out.csv": "weakened.json: the spec's thresholds",
    "privatize values.csv --spec spec.json -o out.csv": "several columns. Choose one with --column: 'user', 'answer'",
    "privatize values.csv --column age --spec spec.json -o out.csv": "no column 'age'. The columns are 'user'",
    "privatize values.csv --column user --spec spec.json -o out.csv": "value in row 1 must be one of the 2 labels",
    "privatize twice.csv --column a --spec spec.json -o out.csv": "'a', 'a'. Give each a name of its own.",
    "privatize stray.csv --spec spec.json -o out.csv": "stray.csv: value in row 2 must be one of the 2 labels",
    "privatize stray.csv --spec spec.json -o out.parquet --show-values": "got 'perhaps'",
    "privatize headless.csv --spec spec.json -o out.csv": "the first line is a value",
    "privatize headless.csv --spec spec.json -o out.csv --show-values": "the first line, 'yes', is a value",
    "privatize ragged.csv --column a --spec spec.json -o out.csv": "Expected 2 columns, got 1",
    "privatize latin.csv --spec spec.json -o out.csv": "latin.csv: ",
    "privatize latin-header.csv --spec spec.json -o out.csv": "latin-header.csv: not UTF-8 text: byte 0xf6",
    "privatize empty.csv --spec spec.json -o out.csv": "empty.csv: the file is empty",
    "privatize null-bytes.csv --spec spec.json -o out.csv": "null-bytes.csv: ",
    "privatize cut.parquet --spec spec.json -o out.csv": "cut.parquet: ",
    "privatize damaged.parquet --spec spec.json -o out.csv": "damaged.parquet: ",
    "privatize all.summary --spec spec.json -o out.csv": "this file is a summary",
    "privatize values.parquet --spec spec.json -o out.txt": "out.txt: reports are written to .parquet or .csv",
    "privatize values.parquet --spec spec.json -o nowhere/out.csv": "nowhere/out.csv: cannot be written",
    "privatize values.parquet --spec spec.json -o subfolder.csv": "subfolder.csv: Is a directory",
    # reports and summaries
    "summarize nothing.csv --spec spec.json -o out.summary": "nothing.csv: No such file",
    "summarize values.csv --spec spec.json -o out.summary": "values.csv: exactly one column must be called report@",
    "summarize reports.csv --spec other.json -o out.summary": "reports.csv: a batch of reports belongs to another spec",
    "summarize reports.parquet --spec other.json -o out.summary": "reports.parquet: a batch of reports belongs",
    "summarize all.summary --spec other.json -o out.summary": "all.summary: a summary belongs to another spec",
    "summarize reports.csv cut.summary --spec spec.json -o out.summary": "cut.summary: summary has",
    "summarize damaged.summary --spec spec.json -o out.summary": "damaged.summary: summary is damaged",
    "summarize impossible.csv --spec spec.json -o out.summary": "must lie from 0 to 1",
    "summarize words.csv --spec spec.json -o out.summary": "must be a decimal number below 2^64, got 'yes'",
    "summarize gap.csv --spec spec.json -o out.summary": "1 empty cells",
    "summarize no-metadata.parquet --spec spec.json -o out.summary": "no-metadata.parquet: table is not in the layout",
    "summarize cut.parquet --spec spec.json -o out.summary": "cut.parquet: ",
    # answers
    "estimate none.summary --spec spec.json": "at least one report",
    "estimate all.summary --spec spec.json --method guess -o out.csv": "method must be one of mle",
    "estimate all.summary --spec spec.json --target moon -o out.csv": "target must be one of users, population",
    "estimate all.summary --spec spec.json --level 95 -o out.csv": "level must lie strictly between 0 and 1",
    "estimate all.summary --spec spec.json -o out.xlsx": "out.xlsx: an estimate is written to",
    "estimate all.summary --spec spec.json --plot out.gif -o out.csv": "must end in .png",
    "estimate all.summary --spec spec.json --plot nowhere/out.png -o out.csv": "nowhere/out.png: cannot be written",
}  # fmt: skip


@pytest.mark.parametrize("arguments", WRONG)
def test_a_wrong_input_is_refused_in_one_line_and_leaves_no_file(
    arguments: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    before = listing(folder)
    check_refusal(run(*arguments.split()), WRONG[arguments])
    assert listing(folder) == before


def test_standard_input_that_is_not_text_is_refused(folder: Path) -> None:
    outcome = run("privatize", "-", "--spec", folder / "spec.json", "-o", "-", stdin=b"yes\nn\xf6\n")
    assert outcome.code == 2
    assert outcome.err == "deniable: error: standard input: not UTF-8 text: byte 0xf6 is out of place\n"


def test_an_error_after_half_the_output_leaves_the_old_file_as_it_was(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    out.write_text("old")
    asked = ["privatize", "-", "--spec", folder / "spec.json", "-o", out]
    check_refusal(run(*asked), "out.csv: the file exists. A second set of reports from the same people spends epsilon")
    outcome = run(*asked, "--overwrite", stdin=b"yes\n" * 500_000 + b"sure\n")
    check_refusal(outcome, "standard input: value in row 500001 must be one of the 2 labels")
    assert listing(tmp_path) == {"out.csv": 3}

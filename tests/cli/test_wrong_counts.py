"""Wrong counts, releases and questions are refused in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import deniable as dn
from tests.cli.command import check_refusal, listing, run

DAMAGED: dict[str, dict[str, Any]] = {
    "columns": {"columns": 5},
    "few-columns": {"columns": []},
    "labels": {"labels": [1]},
    "long-labels": {"labels": {"town": 3}},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("counts")
    (folder / "counts.csv").write_text("town,n\nA,3\nB,4\n")
    (folder / "half.csv").write_text("town,n\nA,3\nB,2.5\n")
    (folder / "words.csv").write_text("n\n3\nmany\n")
    (folder / "gap.csv").write_text("town,n\nA,3\nB,\n")
    (folder / "headless.csv").write_text("3\n4\n")
    (folder / "two.csv").write_text("year,n\n2020,3\n2021,4\n")
    (folder / "ragged.csv").write_text("town,n\nA,3\nB\n")
    (folder / "narrow.csv").write_text("town,n\nA\nB\n")
    (folder / "twice.csv").write_text("n,n\n3,4\n")
    (folder / "reports.csv").write_text(f"report@{'0' * 64}\n3\n")
    (folder / "no-rows.csv").write_text("town,n\n")
    (folder / "empty.csv").touch()
    (folder / "empty.json").write_text("{}")
    (folder / "latin.csv").write_bytes("n\n3\nschön\n".encode("latin-1"))
    pa.parquet.write_table(pa.table({"n": [1.5, 2.0]}), folder / "half.parquet")
    pa.parquet.write_table(pa.table({"n": [True, False]}), folder / "flags.parquet")
    pa.parquet.write_table(pa.table({"n": pa.array([], pa.int64())}), folder / "no-rows.parquet")
    release = dn.DiscreteLaplace(1.0).release([3, 4], seed=1)
    (folder / "noisy.json").write_text(release.to_json())
    (folder / "damaged.json").write_text(release.to_json().replace('"epsilon": 1.0', '"epsilon": 2.0'))
    (folder / "newer.json").write_text(release.to_json().replace('"deniable.release": 1', '"deniable.release": 2'))
    for name, change in DAMAGED.items():
        (folder / f"{name}.json").write_text(json.dumps(json.loads(release.to_json()) | change))
    table = release.to_arrow()
    metadata = table.schema.metadata | {b"columns": b"["}
    pa.parquet.write_table(table.replace_schema_metadata(metadata), folder / "damaged.parquet")
    metadata = table.schema.metadata | {b"columns": b'["m"]'}
    pa.parquet.write_table(table.replace_schema_metadata(metadata), folder / "lost.parquet")
    (folder / "noisy.csv").write_text("town,n@epsilon=1.0 sensitivity=1\nA,3\nB,4\n")
    (folder / "half-noisy.csv").write_text("town,n@epsilon=1.0 sensitivity=1\nA,3\nB,4.5\n")
    (folder / "hopeless.csv").write_text("n@epsilon=0 sensitivity=1\n3\n")
    (folder / "wordy.csv").write_text("n@epsilon=one sensitivity=1\n3\n")
    (folder / "mixed.csv").write_text("n@epsilon=1.0 sensitivity=1,m@epsilon=2.0 sensitivity=1\n3,4\n")
    (folder / "no-counts.csv").write_text("n@epsilon=1.0 sensitivity=1\n")
    return folder


WRONG = {
    "release half.csv --epsilon 1 -o out.csv": "count in row 2 of column 'n' must be a whole number, got another",
    "release words.csv --epsilon 1 -o out.csv --show-values": "column 'n' must be a whole number, got 'many'",
    "release gap.csv --epsilon 1 -o out.csv": "row 2 of column 'n' must be a whole number, got an empty cell",
    "release half.parquet --epsilon 1 -o out.csv": "row 1 of column 'n' must be a whole number, got another",
    "release flags.parquet --epsilon 1 -o out.csv": "must be a whole number, got another",
    "release headless.csv --epsilon 1 -o out.csv": "has a count in place of a column name",
    "release two.csv --epsilon 1 -o out.csv": "Choose columns with --column: 'year', 'n'",
    "release counts.csv --column m --epsilon 1 -o out.csv": "there is no column 'm'. The columns are 'town', 'n'",
    "release counts.csv --column n --column n --epsilon 1 -o out.csv": "The columns are 'town', 'n'. Name it once.",
    "release counts.csv --label m --epsilon 1 -o out.csv": "there is no column 'm' beside the counts",
    "release twice.csv --column n --epsilon 1 -o out.csv": "more than one column 'n'. Give each a name of its own.",
    "release ragged.csv --epsilon 1 -o out.csv": "ragged.csv: CSV parse error",
    "release narrow.csv --epsilon 1 -o out.csv": "the first row has 1 cells, but there are 2 column names",
    "release latin.csv --epsilon 1 -o out.csv": "latin.csv: ",
    "release no-rows.csv --column n --epsilon 1 -o out.csv": "there are no counts in this file",
    "release no-rows.parquet --epsilon 1 -o out.csv": "there are no counts in this file",
    "release empty.csv --epsilon 1 -o out.csv": "empty.csv: the file is empty",
    "release nothing.csv --epsilon 1 -o out.csv": "nothing.csv: No such file",
    "release noisy.csv --epsilon 1 -o out.csv": "this file is a release already",
    "release noisy.json --epsilon 1 -o out.csv": "counts cannot be read from JSON",
    "release counts.csv -o out.csv": "Missing option '--epsilon'",
    "release counts.csv --epsilon 0 -o out.csv": "epsilon must be positive, got 0.0",
    "release counts.csv --epsilon -1 -o out.csv": "epsilon must be positive, got -1.0",
    "release counts.csv --epsilon nan -o out.csv": "epsilon must be a positive number",
    "release counts.csv --epsilon 1 --sensitivity -1 -o out.csv": "sensitivity must be a whole number from 1",
    "release counts.csv --epsilon 1 -o out.xlsx": "out.xlsx: a release is written to .csv, .parquet, .json files",
    "ask medan noisy.csv": "No such command 'medan'. Did you mean 'median'",
    "ask": "Missing command",
    "ask median reports.csv": "reports.csv: this file holds reports, not noisy counts. Use deniable estimate.",
    "ask median": "Missing argument 'NOISY",
    "ask median nothing.csv": "nothing.csv: No such file",
    "ask median counts.csv": "counts.csv: the file does not record the noise in its counts. Give --epsilon",
    "ask median counts.csv --epsilon 0": "epsilon must be positive",
    "ask median counts.csv --epsilon 1 --sensitivity -2": "sensitivity must be a whole number",
    "ask median half.csv --epsilon 1": "must be a whole number, got '2.5'",
    "ask median half-noisy.csv": "must be a whole number, got '4.5'",
    "ask median noisy.csv --epsilon 2": "--epsilon is 2, but the file records 1",
    "ask median noisy.csv --sensitivity 2": "--sensitivity is 2, but the file records 1",
    "ask median noisy.csv --column m": "there is no column 'm'. The columns are 'n'",
    "ask median noisy.csv --level 1": "level must lie strictly between 0 and 1",
    "ask median noisy.csv --power 2": "No such option: --power",
    "ask stars noisy.csv --power 2": "No such option: --power",
    "ask order-statistic noisy.csv": "Missing option '--k'",
    "ask order-statistic noisy.csv --k 3": "k must be a whole number from 1 to 2",
    "ask median noisy.csv --best worst": "best must be one of",
    "ask order-statistics noisy.csv --best naive": "--best must be unbiased for order-statistics",
    "ask partition noisy.csv --beta 2": "f must grow more slowly than",
    "ask mean noisy.csv --values 1,x": "--values: this is not a list of numbers",
    "ask mean noisy.csv --values 1": "values must be 2 numbers",
    "ask tree noisy.csv --tree {": "--tree: this is not JSON",
    "ask tree noisy.csv --tree nothing.json": "nothing.json: No such file",
    'ask tree noisy.csv --tree {"column":"C","threshold":1,"yes":0,"no":1}': "got 'C'. The columns are A, B.",
    'ask tree noisy.csv --tree {"column":2,"threshold":1,"yes":0,"no":1}': "got 2. The columns are 0 to 1.",
    "ask total empty.csv": "empty.csv: the file is empty",
    "ask total empty.json": "this text is not a release",
    "ask total no-counts.csv": "there are no counts in this file",
    "ask total damaged.json": "damaged.json: the release is damaged",
    "ask total columns.json": "the release is damaged: it must name its 1 columns, got 5",
    "ask total few-columns.json": "the release is damaged: it must name its 1 columns",
    "ask total labels.json": "the release is damaged: its labels must be lists",
    "ask total long-labels.json": "the release is damaged: its labels must be lists",
    "ask total damaged.parquet": "the release is damaged: its metadata is not JSON",
    "ask total lost.parquet": "the table must have one column each of ['m']",
    f"ask tree noisy.csv --tree {'[' * 9999}": "--tree: this is not JSON",
    "ask total newer.json": "newer.json: ",
    "ask total hopeless.csv": "the release is damaged: its noise is epsilon 0",
    "ask total wordy.csv": "the release is damaged: its noise is epsilon one",
    "ask total mixed.csv": "must have the same epsilon and sensitivity",
    "ask total noisy.csv noisy.csv": "noisy.csv: the file is given twice",
    "ask ratio noisy.csv --other ./noisy.csv": "is given twice",
    "ask ratio noisy.csv noisy.json --other counts.csv": "takes one file",
    "ask total - -": "only once",
    "ask median noisy.csv noisy.json": "median does not add up over parties",
    "ask median noisy.csv noisy.json --combine most": "--combine must be one of sum, mean",
    "ask order-statistics noisy.csv noisy.json --combine sum --best naive": "--best must be unbiased for order",
}


@pytest.mark.parametrize("command", WRONG)
def test_a_wrong_command_is_refused_in_one_line(command: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    before = listing(folder)
    check_refusal(run(*command.split()), WRONG[command])
    assert listing(folder) == before

"""How cells of files become values: labels, whole numbers, missing ones and strays."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet
import pytest

import deniable as dn
from deniable.cli.io.files import PARQUET, SUMMARY, TEXT, kind_of, reading
from tests.cli.command import run, succeed

SURE = 50  # at this epsilon a report is the value, so the values read can be seen


def spec_file(folder: Path, domain: dn.Domain) -> Path:
    path = folder / "spec.json"
    path.write_text(dn.mechanism("grr", domain=domain, epsilon=SURE).spec.to_json())
    return path


def read_back(source: object, spec: Path, *options: object, stdin: bytes = b"") -> list[int]:
    """The indices of the values a file was understood to hold."""
    out = succeed("privatize", source, "--spec", spec, "--seed", 0, "-o", "-", *options, stdin=stdin)
    return [int(line) for line in out.splitlines()[1:]]


def test_cells_of_a_whole_number_domain_are_read_as_numbers(tmp_path: Path) -> None:
    spec = spec_file(tmp_path, dn.Domain.integers(-2, 7))
    (tmp_path / "v.csv").write_text("id,age\nx,-2\ny,7\nz,0\n")
    assert read_back(tmp_path / "v.csv", spec, "--column", "age") == [0, 9, 2]


def test_strays_and_gaps_go_to_the_categories_for_them(tmp_path: Path) -> None:
    spec = spec_file(tmp_path, dn.Domain.integers(0, 3, other=True, no_answer=True))
    (tmp_path / "v.csv").write_text('id,age\na,3\nb,4\nc,\nd,""\ne,old\nf,2.0\ng,2.5\nh,99999999999999999999\n')
    assert read_back(tmp_path / "v.csv", spec, "--column", "age") == [3, 4, 5, 5, 4, 2, 4, 4]


def test_whole_number_labels_are_read_as_numbers(tmp_path: Path) -> None:
    spec = spec_file(tmp_path, dn.Domain.categories([404, 500, 200]))
    assert read_back("-", spec, stdin=b"500\n404\n200\n") == [1, 0, 2]


def test_an_empty_line_in_a_file_of_one_column_is_a_missing_value(tmp_path: Path) -> None:
    spec = spec_file(tmp_path, dn.Domain.categories(["a", "b"], no_answer=True))
    (tmp_path / "v.csv").write_text("answer\na\n\nb\n\n")
    assert read_back(tmp_path / "v.csv", spec) == [0, 2, 1, 2]


def test_quotes_line_ends_and_unicode_are_understood(tmp_path: Path) -> None:
    spec = spec_file(tmp_path, dn.Domain.categories(["a,b", "two\nlines", "schön"]))
    (tmp_path / "v.csv").write_bytes('\ufeffanswer,"n"\r\n"a,b",1\r\n"two\nlines",2\r\nschön,3\r\n'.encode())
    assert read_back(tmp_path / "v.csv", spec, "--column", "answer") == [0, 1, 2]


def test_a_line_of_standard_input_is_one_value_commas_and_quotes_included(tmp_path: Path) -> None:
    spec = spec_file(tmp_path, dn.Domain.categories(["a,b", '"c"']))
    assert read_back("-", spec, stdin=b'"c"\r\na,b') == [1, 0]


def test_a_byte_order_mark_is_no_part_of_the_first_value(tmp_path: Path) -> None:
    words = spec_file(tmp_path, dn.Domain.categories(["a", "b"], other=True))
    assert read_back("-", words, stdin="\ufeffb\na\n".encode()) == [1, 0]
    assert read_back("-", words, stdin="b\n\ufeffa\n".encode()) == [1, 2]
    assert read_back("-", words, "--column", "x", stdin="\ufeffx,y\nb,a\n".encode()) == [1]
    numbers = spec_file(tmp_path, dn.Domain.integers(0, 9))
    assert read_back("-", numbers, stdin="\ufeff7\n".encode()) == [7]


class Dripping(io.RawIOBase):
    """A pipe that hands out one byte at a time."""

    def __init__(self, content: bytes) -> None:
        self._rest = list(content)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._rest:
            return 0
        buffer[0] = self._rest.pop(0)
        return 1


@pytest.mark.parametrize("kind", [PARQUET, SUMMARY, TEXT, "short", "empty"])
def test_a_pipe_that_drips_is_recognised_and_loses_no_byte(kind: str, tmp_path: Path) -> None:
    spec = spec_file(tmp_path, dn.Domain.categories(["a", "b"]))
    mechanism = dn.from_spec(spec.read_bytes())
    stream = io.BytesIO()
    pa.parquet.write_table(pa.table({"answer": ["b", "a"]}), stream)
    contents = {
        PARQUET: stream.getvalue(),
        SUMMARY: mechanism.summarize(mechanism.privatize(["b"])).to_bytes(),
        TEXT: b"b\na\n" * 10,
        "short": b"PA",
        "empty": b"",
    }
    pipe = io.TextIOWrapper(io.BufferedReader(Dripping(contents[kind])))
    with patch.object(sys, "stdin", pipe), reading("-") as file:
        assert kind_of(file) == (kind if kind in (PARQUET, SUMMARY) else TEXT)
        assert file.read() == contents[kind]
    if kind == PARQUET:
        with patch("tests.cli.command.io.BytesIO", side_effect=[Dripping(contents[kind]), io.BytesIO(), io.BytesIO()]):
            assert read_back("-", spec) == [1, 0]


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["b", None, "a"], pa.string_view()),
        pa.array(["b", None, "a"]).dictionary_encode(),
        pa.array(["b", None, "a"], pa.large_string()),
    ],
)
def test_parquet_text_of_any_type_is_understood(column: Any, tmp_path: Path) -> None:
    spec = spec_file(tmp_path, dn.Domain.categories(["a", "b"], no_answer=True))
    pa.parquet.write_table(pa.table({"answer": column}), tmp_path / "v.parquet")
    assert read_back(tmp_path / "v.parquet", spec) == [1, 2, 0]


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint64(), pa.float64(), pa.string(), pa.string_view()])
def test_parquet_numbers_of_any_type_are_understood(kind: Any, tmp_path: Path) -> None:
    spec = spec_file(tmp_path, dn.Domain.integers(1, 3, no_answer=True))
    pa.parquet.write_table(pa.table({"answer": pa.array([3, None, 1]).cast(kind)}), tmp_path / "v.parquet")
    assert read_back(tmp_path / "v.parquet", spec) == [2, 3, 0]


def test_parquet_numbers_written_as_repeated_text_are_understood(tmp_path: Path) -> None:
    spec = spec_file(tmp_path, dn.Domain.integers(1, 3, no_answer=True))
    column = pa.array(["3", None, "1"]).dictionary_encode()
    pa.parquet.write_table(pa.table({"answer": column}), tmp_path / "v.parquet")
    assert read_back(tmp_path / "v.parquet", spec) == [2, 3, 0]


def test_parquet_cells_that_are_neither_text_nor_numbers_are_strays(tmp_path: Path) -> None:
    spec = spec_file(tmp_path, dn.Domain.integers(0, 3, other=True, no_answer=True))
    pa.parquet.write_table(pa.table({"answer": [True, None]}), tmp_path / "v.parquet")
    assert read_back(tmp_path / "v.parquet", spec) == [4, 5]


def test_no_values_give_no_reports(tmp_path: Path) -> None:
    spec = spec_file(tmp_path, dn.Domain.integers(0, 3))
    (tmp_path / "v.csv").write_text("answer\n")
    assert read_back(tmp_path / "v.csv", spec) == read_back("-", spec) == []
    summary = tmp_path / "none.summary"
    empty = succeed("privatize", "-", "--spec", spec, "--seed", 0, "-o", "-").encode()
    succeed("summarize", "-", "--spec", spec, "-o", summary, stdin=empty)
    found = dn.Summary.from_bytes(summary.read_bytes())
    assert (found.n, found.simulated) == (0, True)


@pytest.mark.parametrize(
    ("cells", "row", "value"),
    [
        (["1", "2", "seven"], 3, "'seven'"),
        (["1", "9"], 2, "9"),
        (["", "1"], 1, "None"),
        (["3"] * 400_000 + ["4"], 400_001, "4"),
    ],
)
def test_a_wrong_cell_is_named_with_its_row(cells: list[str], row: int, value: str, tmp_path: Path) -> None:
    spec = spec_file(tmp_path, dn.Domain.integers(0, 3))
    path = tmp_path / "v.csv"
    path.write_text("answer\n" + "\n".join(cells) + "\n")
    for source, stdin in ((path, b""), ("-", path.read_bytes().partition(b"\n")[2])):
        command = ("privatize", source, "--spec", spec, "-o", tmp_path / "out.parquet")
        outcome = run(*command, stdin=stdin)
        assert outcome.code == 2
        assert f"value in row {row} must be a whole number from 0 to 3" in outcome.err
        assert f"got {value}" not in outcome.err
        assert f"got {value}. A spec made with --" in run(*command, "--show-values", stdin=stdin).err
        assert not (tmp_path / "out.parquet").exists()

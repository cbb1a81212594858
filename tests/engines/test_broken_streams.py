"""Streams that break: one clear error in one line, whatever tool they come from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import deniable as dn
from deniable.engines import arrow

N = 200_000


@pytest.fixture
def m() -> Any:
    return dn.mechanism("grr", k=40, epsilon=2.0)


@pytest.fixture
def files(m: Any, tmp_path: Path) -> list[Path]:
    """Two files of reports."""
    made = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    for seed, path in enumerate(made):
        pq.write_table(m.privatize(np.arange(N) % 40, seed=seed).to_arrow(), path, row_group_size=N // 4)
    return made


def gone(path: Path) -> None:
    path.unlink()


def damaged(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4 : len(data) // 2] = b"\xff" * (len(data) // 2 - 4)
    path.write_bytes(bytes(data))


def no_parquet(path: Path) -> None:
    path.write_text("this\nis\nno Parquet\n")


def dataset(folder: Path) -> Any:
    return ds.dataset(folder)


def in_duckdb(folder: Path) -> Any:
    return duckdb.connect().sql(f"FROM read_parquet(['{folder}/a.parquet', '{folder}/b.parquet'])")


def in_polars(folder: Path) -> Any:
    return pl.scan_parquet([folder / "a.parquet", folder / "b.parquet"])


@pytest.mark.parametrize("fault", [gone, damaged, no_parquet])
@pytest.mark.parametrize("kind", [dataset, in_duckdb, in_polars])
@pytest.mark.parametrize("at", [0, 1])
def test_a_stream_that_breaks_has_one_clear_error(
    kind: Callable[[Path], Any], fault: Callable[[Path], None], at: int, m: Any, files: list[Path]
) -> None:
    source = kind(files[0].parent)
    fault(files[at])
    with pytest.raises(dn.MalformedReport) as raised:
        arrow.summarize(m, source, unlabelled=kind is not dataset)
    message = str(raised.value)
    assert "\n" not in message
    assert len(message) < 400
    assert message.startswith(("the stream breaks off after row ", "the source cannot be read: "))


def test_files_of_other_types_in_duckdb_have_one_clear_error(m: Any, files: list[Path]) -> None:
    relation = in_duckdb(files[0].parent)
    pq.write_table(pa.table({"report": ["text"] * 10}), files[1])
    with pytest.raises(dn.MalformedReport, match=r"^the (stream breaks off|source cannot)") as raised:
        arrow.summarize(m, relation)
    assert "\n" not in str(raised.value)


def test_an_error_of_the_program_itself_is_not_worded_anew(m: Any, files: list[Path]) -> None:
    def batches() -> Any:
        yield from pq.read_table(files[0]).to_batches()
        raise ZeroDivisionError("mine")

    reader = pa.RecordBatchReader.from_batches(pq.read_schema(files[0]), batches())
    with pytest.raises(ZeroDivisionError, match="mine"):
        arrow.summarize(m, reader)

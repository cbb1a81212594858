"""A table of summaries in a Parquet file is read as it was written, or not at all."""

from __future__ import annotations

import datetime as dt
import io
import time

import pyarrow as pa
import pyarrow.parquet
import pytest

import deniable as dn
from deniable.grouping.parquet import parquet_bytes, read_parquet
from tests.damaged import damaged
from tests.running.figures import Record, pace

M = dn.mechanism("grr", labels=["a", "b", "c"], epsilon=2.0)
HOUR = 493_000
SUMMARIES = {
    (HOUR + 24 * day, country): M.summarize(M.privatize(["a"] * (5 + day))) for day in range(6) for country in "xyz"
}
TABLE = dn.SummaryTable(("bucket", "country"), SUMMARIES, M.fingerprint)


def fuzz(count: int, seed: int) -> int:
    """Read damaged files; return how many were refused."""
    refused = 0
    for data in damaged(parquet_bytes(TABLE.to_arrow()), count, seed):
        try:
            found = dn.SummaryTable.from_arrow(read_parquet(data))
        except dn.DeniableError:
            refused += 1
        else:
            assert found == TABLE
    return refused


def test_a_damaged_file_is_refused_or_changes_nothing() -> None:
    assert fuzz(1_000, seed=5) > 600


@pytest.mark.soak
def test_many_damaged_files_are_refused_or_change_nothing(seed: int, record_property: Record) -> None:
    start = time.monotonic()
    refused = fuzz(100_000, seed)
    record_property("figure", f"damaged tables: {pace(100_000, start)}, {refused:,} refused, none read wrongly")
    assert refused > 50_000


def test_a_file_without_checksums_is_read() -> None:
    assert dn.SummaryTable.from_arrow(read_parquet(written(TABLE.to_arrow()))) == TABLE


def test_keys_of_every_kind_keep_their_checksum() -> None:
    moment = dt.datetime(2026, 1, 31, 12, 30, 15, 250, tzinfo=dt.UTC)
    summary = next(iter(SUMMARIES.values()))
    for key in ("täglich", -3, True, dt.date(2026, 1, 31), moment, moment.replace(tzinfo=None)):
        table = dn.SummaryTable(("key",), {(key,): summary}, M.fingerprint)
        assert dn.SummaryTable.from_arrow(read_parquet(parquet_bytes(table.to_arrow()))) == table


def test_a_file_with_fewer_rows_or_other_names_than_were_written_is_refused() -> None:
    whole = read_whole(parquet_bytes(TABLE.to_arrow()))
    renamed = whole.rename_columns(["bucket", "land", "n", "summary"]).replace_schema_metadata(whole.schema.metadata)
    for changed in (whole.slice(2), renamed):
        with pytest.raises(dn.MalformedSummary, match="differ from their checksum"):
            read_parquet(written(changed))


def read_whole(data: bytes) -> pa.Table:
    return pa.parquet.read_table(io.BytesIO(data))


def written(table: pa.Table) -> bytes:
    file = io.BytesIO()
    pa.parquet.write_table(table, file)
    return file.getvalue()


def test_a_file_of_another_kind_is_refused() -> None:
    with pytest.raises(dn.MalformedSummary, match="no Parquet file, or a damaged one: "):
        read_parquet(b"bucket,n\n1,2\n")

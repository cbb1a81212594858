"""A table of summaries in a Parquet file is read as it was written, or not at all."""

from __future__ import annotations

import io

import pyarrow as pa
import pyarrow.parquet
import pytest

import deniable as dn
from deniable.grouping.parquet import parquet_bytes, read_parquet
from tests.damaged import damaged

M = dn.mechanism("grr", labels=["a", "b", "c"], epsilon=2.0)
HOUR = 493_000
SUMMARIES = {
    (HOUR + 24 * day, country): M.summarize(M.privatize(["a"] * (5 + day))) for day in range(6) for country in "xyz"
}
TABLE = dn.SummaryTable(("bucket", "country"), SUMMARIES, M.fingerprint)


def fuzz(count: int, seed: int) -> int:
    """Read damaged files; return how many were refused. Names of columns have no checksum: who reads compares them."""
    refused = 0
    for data in damaged(parquet_bytes(TABLE.to_arrow()), count, seed):
        try:
            found = dn.SummaryTable.from_arrow(read_parquet(data))
        except dn.DeniableError:
            refused += 1
        else:
            assert list(found.items()) == list(TABLE.items())
    return refused


def test_a_damaged_file_is_refused_or_changes_nothing() -> None:
    assert fuzz(1_000, seed=5) > 600


@pytest.mark.soak
def test_many_damaged_files_are_refused_or_change_nothing(seed: int) -> None:
    assert fuzz(100_000, seed) > 50_000


def test_a_file_without_checksums_is_read() -> None:
    file = io.BytesIO()
    pa.parquet.write_table(TABLE.to_arrow(), file)
    assert dn.SummaryTable.from_arrow(read_parquet(file.getvalue())) == TABLE


def test_a_file_of_another_kind_is_refused() -> None:
    with pytest.raises(dn.MalformedSummary, match="no Parquet file, or a damaged one: "):
        read_parquet(b"bucket,n\n1,2\n")

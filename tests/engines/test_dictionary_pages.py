"""Columns read page by page hold what Arrow reads, or are left to Arrow."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow.parquet import encryption

import deniable as dn
from deniable.core.parquet import how_written
from deniable.engines import arrow, dictionary_pages
from deniable.engines.footers import Footer

N = 6000
SMALL_PAGES = {"write_batch_size": 64, "data_page_size": 300}
KINDS = [pa.uint32(), pa.int32(), pa.int64(), pa.uint64(), pa.date32()]


@pytest.fixture(autouse=True)
def _always_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read small columns as if they were large."""
    monkeypatch.setattr(dictionary_pages, "pay_for", lambda _: True)


def numbers(kind: Any, k: int = 300) -> Any:
    drawn = np.random.default_rng(1).integers(0, k, N)
    return pa.array(drawn.astype(np.int32)).cast(pa.int32()).cast(kind)


def both(path: Path, names: list[str], group: int = 0) -> tuple[dict[str, Any], Any]:
    """What is read page by page, and what Arrow reads."""
    with pq.ParquetFile(path) as file:
        read = dictionary_pages.columns(Footer(str(path), file.metadata), group, file.schema_arrow, names)
        return read, file.read_row_group(group, names)


def same(array: Any, column: Any) -> bool:
    return bool(pa.chunked_array([array]).equals(column))


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("nullable", [False, True])
@pytest.mark.parametrize("compression", ["zstd", "none"])
def test_columns_are_what_arrow_reads(kind: Any, nullable: bool, compression: str, tmp_path: Path) -> None:
    columns = {"a": numbers(kind), "b": numbers(kind, 2), "c": numbers(kind).sort(), "d": numbers(kind, 1)}
    schema = pa.schema([pa.field(name, kind, nullable) for name in columns])
    table = pa.Table.from_arrays(list(columns.values()), schema=schema)
    for number, options in enumerate(({}, SMALL_PAGES, {"row_group_size": 1700}, {"write_page_checksum": True})):
        path = tmp_path / f"{number}.parquet"
        pq.write_table(table, path, compression=compression, **options)
        for group in range(pq.read_metadata(path).num_row_groups):
            read, theirs = both(path, list(columns), group)
            assert list(read) == list(columns)
            assert all(same(read[name], theirs[name]) for name in columns)


def test_columns_of_other_writers(tmp_path: Path) -> None:
    table = pa.table({"a": numbers(pa.uint32()), "b": numbers(pa.int64())})
    duckdb.from_arrow(table).write_parquet(str(tmp_path / "duckdb.parquet"), compression="zstd")
    pl.DataFrame(table).write_parquet(tmp_path / "polars.parquet")
    for path in tmp_path.iterdir():
        read, theirs = both(path, ["a", "b"])
        assert set(read) == {"a", "b"}
        assert all(same(read[name], theirs[name]) for name in read)


@pytest.mark.parametrize(
    "options",
    [
        {"compression": "snappy"},
        {"use_dictionary": False},
        {"data_page_version": "2.0"},
        {"dictionary_pagesize_limit": 64, "write_batch_size": 64},
    ],
    ids=lambda options: next(iter(options)),
)
def test_what_is_not_understood_is_left_to_arrow(options: dict[str, Any], tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": numbers(pa.uint32())}), tmp_path / "a.parquet", **{"compression": "zstd", **options})
    assert both(tmp_path / "a.parquet", ["a"])[0] == {}


def test_columns_of_other_kinds_and_with_gaps_are_left_to_arrow(tmp_path: Path) -> None:
    gaps = numbers(pa.int32()).to_pylist()
    gaps[5] = None
    columns = {
        "gaps": pa.array(gaps, pa.int32()),
        "narrow": numbers(pa.uint16()),
        "text": pa.array(["a", "b"] * (N // 2)),
        "lists": pa.array([[1, 2]] * N, pa.list_(pa.uint32())),
        "fixed": pa.array([[1, 2]] * N, pa.list_(pa.uint32(), 2)),
        "inner": pa.array([{"a": 1}] * N, pa.struct([("a", pa.uint32())])),
        "whole": numbers(pa.uint32()),
    }
    pq.write_table(pa.table(columns), tmp_path / "a.parquet", compression="zstd")
    read, theirs = both(tmp_path / "a.parquet", list(columns))
    assert list(read) == ["whole"]
    assert same(read["whole"], theirs["whole"])


def test_a_name_with_a_dot_is_not_taken_for_a_column_within_a_column(tmp_path: Path) -> None:
    inner = pa.StructArray.from_arrays([numbers(pa.uint32(), 9)], fields=[pa.field("b", pa.uint32(), False)])
    schema = pa.schema([pa.field("a", inner.type, False), pa.field("a.b", pa.uint32(), False)])
    pq.write_table(pa.table([inner, numbers(pa.uint32())], schema), tmp_path / "a.parquet", compression="zstd")
    with pq.ParquetFile(tmp_path / "a.parquet") as file:
        footer = Footer(str(tmp_path / "a.parquet"), file.metadata)
        assert dictionary_pages.columns(footer, 0, file.schema_arrow, ["a.b"]) == {}


def test_encrypted_columns_are_left_to_arrow(tmp_path: Path) -> None:
    class Keys(encryption.KmsClient):  # type: ignore[misc]
        """Keys that are hidden from nobody."""

        def __init__(self, _: object) -> None:
            super().__init__()

        def wrap_key(self, key: bytes, _: str) -> bytes:
            return base64.b64encode(key)

        def unwrap_key(self, key: bytes, _: str) -> bytes:
            return base64.b64decode(key)

    m, path = dn.mechanism("grr", k=300, epsilon=2.0), tmp_path / "r.parquet"
    table = m.privatize(np.arange(N) % 300, seed=1).to_arrow()
    how = encryption.EncryptionConfiguration(footer_key="f", column_keys={"c": ["report"]}, plaintext_footer=True)
    keys = encryption.CryptoFactory(Keys).file_encryption_properties(encryption.KmsConnectionConfig(), how)
    with pq.ParquetWriter(path, table.schema, encryption_properties=keys) as writer:
        writer.write_table(table)
    with pytest.raises(dn.MalformedReport, match="Cannot decrypt"):
        arrow.summarize(m, path)


@pytest.mark.parametrize("limit", ["_MOST_ROWS", "_MOST_BYTES", "_MOST_PAGES", "_MOST_WIDTH"])
def test_what_is_too_large_is_left_to_arrow(limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": numbers(pa.uint32())}), path, compression="none")
    size = pq.read_metadata(path).row_group(0).column(0).total_compressed_size
    most = {"_MOST_ROWS": N, "_MOST_BYTES": size, "_MOST_PAGES": 2, "_MOST_WIDTH": 9}[limit]
    monkeypatch.setattr(dictionary_pages, limit, most)
    assert both(path, ["a"])[0]
    monkeypatch.setattr(dictionary_pages, limit, most - 1)
    assert not both(path, ["a"])[0]


@pytest.mark.parametrize("compression", ["zstd", "none"])
@pytest.mark.parametrize("checksum", [True, False])
def test_damage_is_left_to_arrow_or_read_as_arrow_reads_it(compression: str, checksum: bool, tmp_path: Path) -> None:
    path, random = tmp_path / "a.parquet", np.random.default_rng(2)
    table = pa.table({"a": numbers(pa.uint32())})
    pq.write_table(table, path, compression=compression, write_page_checksum=checksum, **SMALL_PAGES)
    metadata, schema, whole = pq.read_metadata(path), pq.read_schema(path), path.read_bytes()
    chunk = metadata.row_group(0).column(0)
    begin, end = chunk.dictionary_page_offset, chunk.dictionary_page_offset + chunk.total_compressed_size
    declined, footer = 0, Footer(str(path), metadata)
    assert footer.chunks is not None  # which stay as they are
    for _ in range(300):
        spoilt = bytearray(whole)
        spoilt[random.integers(begin, end)] ^= 1 << random.integers(8)
        path.write_bytes(bytes(spoilt[: random.integers(begin, end)] if random.random() < 0.05 else spoilt))
        read = dictionary_pages.columns(footer, 0, schema, ["a"])
        declined += not read
        if read and not same(read["a"], table["a"]):
            with pq.ParquetFile(path, metadata=metadata, page_checksum_verification=True) as file:
                assert same(read["a"], file.read_row_group(0)["a"])
            assert not checksum or b"\x15" in spoilt  # the checksum itself was hidden
    assert declined > (200 if checksum else 5)


def test_summaries_are_those_of_arrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    m = dn.mechanism("grr", k=300, epsilon=2.0)
    random = np.random.default_rng(3)
    table = m.privatize(random.integers(0, 300, N), seed=1).to_arrow()
    for name, keys in {
        "number": random.integers(-128, 128, N).astype(np.int8),
        "wide": random.integers(-(2**40), -(2**40) + 9, N),
        "edge": random.choice(np.array([-(2**63), -(2**63) + 2**16 - 1]), N),
        "day": random.integers(0, 9, N).astype("datetime64[D]"),
        "land": np.array(["de", "fr"])[random.integers(0, 2, N)],
    }.items():
        table = table.append_column(name, pa.array(keys))
    pq.write_table(table, tmp_path / "r.parquet", row_group_size=2500, **how_written())
    by = [["number"], ["wide"], ["edge"], ["day"], ["land"], ["number", "wide", "land"], ["day", "edge"]]
    with monkeypatch.context() as never:
        never.setattr(dictionary_pages, "columns", lambda *_: {})
        whole, groups = arrow.summarize(m, tmp_path), [dn.summarize_by(m, tmp_path, each) for each in by]
    assert arrow.summarize(m, tmp_path).to_bytes() == whole.to_bytes()
    for each, expected in zip(by, groups, strict=True):
        found = dn.summarize_by(m, tmp_path, each)
        assert found.to_arrow() == expected.to_arrow()
        assert found.to_arrow() == dn.summarize_by(m, table, each).to_arrow()


def test_a_report_out_of_range_is_found_in_its_row(tmp_path: Path) -> None:
    m = dn.mechanism("grr", k=300, epsilon=2.0)
    table = dn.mechanism("grr", k=301, epsilon=2.0).privatize(np.full(N, 3), seed=1).to_arrow()
    data = np.minimum(table["report"].to_numpy(), 299)
    data[4321] = 300
    metadata = m.privatize([1], seed=1).to_arrow().schema.metadata
    wrong = pa.table({"report": data}).replace_schema_metadata(metadata)
    pq.write_table(wrong, tmp_path / "r.parquet", row_group_size=4000, compression="zstd")
    assert both(tmp_path / "r.parquet", ["report"])[0]
    with pytest.raises(dn.MalformedReport, match=r"row group 1, row 322: report must lie from 0 to 299"):
        arrow.summarize(m, tmp_path)

"""How reports and summaries are kept in Parquet: compressed, in large pages, and with a checksum for every page.

A bit that turns over on a disk can leave a page that decodes, and a report that nobody sent. Readers compare the
checksums; pages of other writers, which have none, are read as they are. Reports are read from the first to the last,
and every page costs a reader some time by itself.

No checksum covers the end of a file: what it says of rows must agree with itself, and with what is read.
"""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

from deniable.core.extras import needed

READ = {"page_checksum_verification": True}  # of ParquetFile
_PAGES = {"max_rows_per_page": 2**20}  # Arrow also limits them to a MiB


@cache
def how_written() -> dict[str, Any]:
    """Arguments of ParquetWriter and write_table. Older versions of Arrow limit only the bytes of a page."""
    with needed():
        import pyarrow.parquet as pq

    known = inspect.signature(pq.ParquetWriter).parameters
    pages = {name: rows for name, rows in _PAGES.items() if name in known}
    return {"compression": "zstd", "write_page_checksum": True, **pages}


def check_rows(metadata: Any) -> None:
    """Refuse a file that has not as many rows as its row groups have together, by an error as of Arrow."""
    rows = sum(metadata.row_group(number).num_rows for number in range(metadata.num_row_groups))
    if rows != metadata.num_rows:
        raise OSError(f"it has {metadata.num_rows} rows, and its row groups have {rows}")


def check_read(metadata: Any, row_group: int, rows: int) -> None:
    """Refuse a row group in which there were more or fewer rows than it is said to have, by an error as of Arrow."""
    said = metadata.row_group(row_group).num_rows
    if rows != said:
        raise OSError(f"row group {row_group} has {said} rows, and {rows} were found")

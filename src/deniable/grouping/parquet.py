"""Tables of summaries in Parquet files, whose pages have checksums.

The bytes of a summary have one of their own. The columns of its group have not, and there one wrong bit is another day.
"""

from __future__ import annotations

from io import BytesIO
from typing import IO, Any

from deniable.core.errors import MalformedSummary, cut
from deniable.core.extras import needed


def write_parquet(table: Any, file: IO[bytes]) -> None:
    """Write an Arrow table of summaries to a file."""
    with needed():
        import pyarrow.parquet

    pyarrow.parquet.write_table(table, file, compression="zstd", write_page_checksum=True)


def parquet_bytes(table: Any) -> bytes:
    """Return the file that has an Arrow table of summaries."""
    file = BytesIO()
    write_parquet(table, file)
    return file.getvalue()


def read_parquet(data: bytes) -> Any:
    """Read the Arrow table of a file, or refuse a damaged one; what checksums its pages have are verified."""
    with needed():
        import pyarrow as pa
        import pyarrow.parquet

    try:
        table = pyarrow.parquet.read_table(BytesIO(data), page_checksum_verification=True)
        table.validate(full=True)  # such as that text is UTF-8
        _ = table.column_names  # which are text, too
    except (pa.ArrowException, OSError, ValueError) as error:
        raise MalformedSummary(f"this is no Parquet file, or a damaged one: {cut(str(error), 200)}") from None
    return table

"""Tables of summaries in Parquet files, with checksums.

The bytes of a summary have one of their own. The keys of its group have not, and there one wrong bit is another day.
Nor has the end of the file, which says how many rows there are. So pages have the checksums of Parquet, and the
metadata has one of all keys.
"""

from __future__ import annotations

import json
from hashlib import sha256
from io import BytesIO
from typing import IO, Any

from deniable.core.errors import InvalidArgument, MalformedSummary, cut
from deniable.core.extras import needed
from deniable.core.parquet import READ, how_written
from deniable.grouping.keys import RESERVED

CHECKSUM_KEY = b"deniable.checksum"
_SUMMARY = RESERVED[1]


def write_parquet(table: Any, file: IO[bytes]) -> None:
    """Write an Arrow table of summaries to a file."""
    with needed():
        import pyarrow.parquet

    told = table.replace_schema_metadata({**(table.schema.metadata or {}), CHECKSUM_KEY: _checksum(table)})
    pyarrow.parquet.write_table(told, file, **how_written())


def parquet_bytes(table: Any) -> bytes:
    """Return the file that has an Arrow table of summaries."""
    file = BytesIO()
    write_parquet(table, file)
    return file.getvalue()


def read_parquet(data: bytes, most: int | None = None) -> Any:
    """Read the Arrow table of a file, or refuse a damaged one; what checksums it has are verified.

    A small file can have millions of equal rows, so those of strangers are counted first: at most `most` are read.
    """
    with needed():
        import pyarrow as pa
        import pyarrow.parquet

    try:
        rows = pyarrow.parquet.read_metadata(BytesIO(data)).num_rows
        if most is not None and rows > most:
            raise InvalidArgument("the table", f"have at most {most:,} rows", rows)
        table = pyarrow.parquet.read_table(BytesIO(data), **READ)
        table.validate(full=True)  # such as that text is UTF-8
        found = _checksum(table)
    except InvalidArgument:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        raise MalformedSummary(f"this is no Parquet file, or a damaged one: {cut(str(error), 200)}") from None
    metadata = dict(table.schema.metadata or {})
    if metadata.pop(CHECKSUM_KEY, found) != found:
        name = CHECKSUM_KEY.decode()
        hint = f"If somebody changed the table on purpose, take {name} out of its metadata."
        raise MalformedSummary(f"the file is damaged: its groups differ from their checksum. {hint}")
    return table.replace_schema_metadata(metadata)


def _checksum(table: Any) -> bytes:
    """The SHA-256 of the names, keys and numbers of all groups."""
    digest = sha256()
    for name in table.column_names:
        rows = table[name].to_pylist() if name != _SUMMARY else len(table)
        digest.update(json.dumps([name, rows], default=str).encode())
    return digest.hexdigest().encode()

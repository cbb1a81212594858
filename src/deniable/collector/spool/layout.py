"""Where reports lie in a spool, and under which columns.

    collection=NAME/spec=FINGERPRINT/hour=HOUR/FILE.parquet

`hour` is the bucket that devices sent, in hours since 1970. The columns are one for each segment (text), `id` (16
bytes), `position`, then the report in its stable layout (`Reports.to_arrow`). A report with an id of its own has
position 0. Those of a whole batch have its id and their places in it. So (hour, id, position) is a report, however
often it was sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from deniable.collector.store.records import Delivery
from deniable.core.extras import needed
from deniable.core.reports import Reports
from deniable.heavy_hitters.collected import HitterReports
from deniable.wire.forms import Segment
from deniable.wire.frames import ID_BYTES

ID, POSITION = "id", "position"
ROWS = b"deniable.rows"  # in the metadata: how many rows there are, which nothing else in a file has a checksum of
_PATH = re.compile(r"collection=([a-z0-9._-]+)/spec=([0-9a-f]{64})/hour=([0-9]{1,10})")


class Partition(NamedTuple):
    """The reports of one collection, spec and bucket."""

    collection: str
    fingerprint: str
    hour: int

    def folder(self, spool: Path) -> Path:
        """Where its files are."""
        return spool / f"collection={self.collection}" / f"spec={self.fingerprint}" / f"hour={self.hour}"


def partitions(spool: Path) -> Iterator[Partition]:
    """All partitions of a spool, in order."""
    for folder in sorted(spool.glob("collection=*/spec=*/hour=*")):
        found = _PATH.fullmatch(folder.relative_to(spool).as_posix())
        if found is not None:
            yield Partition(found[1], found[2], int(found[3]))


def rows(reports: Reports | HitterReports, delivery: Delivery, segments: Sequence[Segment]) -> Any:
    """A delivery as a table."""
    with needed():
        import pyarrow as pa

    n = delivery.n
    if delivery.whole:
        ids, positions = delivery.ids[0] * n, np.arange(n, dtype=np.int32)
    else:
        ids, positions = b"".join(delivery.ids), np.zeros(n, np.int32)
    names = [each.name for each in segments]
    labels = [each.labels[place] for each, place in zip(segments, delivery.cell.segments, strict=True)]
    columns = [pa.repeat(pa.scalar(label, pa.string()), n) for label in labels]
    columns.append(pa.FixedSizeBinaryArray.from_buffers(pa.binary(ID_BYTES), n, [None, pa.py_buffer(ids)]))
    columns.append(pa.array(positions))
    body = reports.to_arrow()
    return pa.Table.from_arrays(
        [*columns, *body.columns],
        schema=pa.schema(
            [
                *(pa.field(name, pa.string(), nullable=False) for name in names),
                pa.field(ID, pa.binary(ID_BYTES), nullable=False),
                pa.field(POSITION, pa.int32(), nullable=False),
                *body.schema,
            ],
            metadata=body.schema.metadata,
        ),
    )

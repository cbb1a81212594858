"""What SQL and expressions call: a column of values into reports, and reports into the bytes of a summary."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from deniable.core.arrays import Indices
from deniable.core.errors import InvalidArgument, MalformedReport, ValueOutsideDomain
from deniable.core.extras import needed
from deniable.core.reports import COLUMN, Reports
from deniable.engines.columns import unlabelled
from deniable.engines.malformed import without_position
from deniable.engines.sources import AnyReports
from deniable.grouping.counting import Counted
from deniable.heavy_hitters.collected import LEVEL_COLUMN, HitterReports
from deniable.heavy_hitters.protocol import HeavyHitters
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.registry import from_spec
from deniable.randomness.keystream import Keystream


def counted_of(mechanism: Any) -> Counted:
    """A mechanism or heavy hitters as they are, or the mechanism of a spec."""
    return mechanism if isinstance(mechanism, (Mechanism, HeavyHitters)) else from_spec(mechanism)


def summaries(counted: Counted, lists: Any, simulated: bool) -> list[bytes]:
    """The bytes of a summary for each list in an Arrow column of lists of reports; a null is a list of none."""
    with needed():
        import pyarrow.compute as pc

    rows = lists.combine_chunks()
    ends = np.cumsum(pc.fill_null(pc.list_value_length(rows), 0).to_numpy(zero_copy_only=False).astype(np.int64))
    reports = _reports(counted, rows.flatten(), simulated)
    return [_summary(counted, _part(reports, start, end)) for start, end in zip([0, *ends[:-1]], ends, strict=True)]


def summary_bytes(counted: Counted, column: Any, simulated: bool) -> bytes:
    """The bytes of the summary of an Arrow column of reports."""
    return _summary(counted, _reports(counted, column, simulated))


def _reports(counted: Counted, column: Any, simulated: bool) -> AnyReports:
    """The reports of an Arrow column; those of heavy hitters are pairs of a level and a report."""
    with needed():
        import pyarrow as pa

    if isinstance(counted, Mechanism):
        return unlabelled(counted, pa.record_batch([column], [COLUMN]), simulated)
    if not pa.types.is_struct(column.type):
        raise MalformedReport(f"reports of heavy hitters must be pairs of a level and a report, got {column.type}")
    if column.null_count:
        raise MalformedReport(f"column {COLUMN!r} holds {column.null_count} nulls")
    columns = [LEVEL_COLUMN, COLUMN]
    return unlabelled(counted, pa.record_batch([column.field(name) for name in columns], columns), simulated)


def _part(reports: AnyReports, start: int, end: int) -> AnyReports:
    if isinstance(reports, Reports):
        return reports[start:end]
    return HitterReports(reports.levels[start:end], reports.reports[start:end])


def _summary(counted: Any, reports: AnyReports) -> bytes:
    try:
        made: bytes = (counted.summarize(reports) if len(reports) else counted.empty_summary()).to_bytes()
    except MalformedReport as error:  # the caller knows nothing of positions in this part
        raise MalformedReport(without_position(error)) from None
    return made


def privatized_column(counted: Counted, values: Any, keystream: Keystream) -> Any:
    """An Arrow column of reports, one for each value; those of heavy hitters are pairs of a level and a report."""
    with needed():
        import pyarrow as pa

    try:
        if isinstance(counted, HeavyHitters):
            if values.null_count:
                raise InvalidArgument("values", "not be missing", None, "Leave out the rows without a value.")
            made = counted.reports_of(values, keystream).to_arrow().combine_chunks()
            return pa.StructArray.from_arrays([_whole(column) for column in made.columns], [LEVEL_COLUMN, COLUMN])
        indices: Indices = counted.domain.indices(values)
    except ValueOutsideDomain as error:  # its position is that in a batch of which the user knows nothing
        raise ValueOutsideDomain(error.value, error.rule, None, error.hint) from None
    payloads = counted.payloads(indices, keystream)
    return _whole(Reports(payloads, counted.fingerprint, keystream.simulated).to_arrow().column(COLUMN))


def dtype_of(counted: Counted) -> np.dtype[Any]:
    """The type of the numbers of a report."""
    level = counted if isinstance(counted, Mechanism) else counted.levels[0]
    return level.layout.empty(0).dtype


def _whole(column: Any) -> Any:
    """One array of a column in chunks, of which there is one."""
    return column.chunk(0)


def keystreams(seed: int | None) -> Iterator[Keystream]:
    """A keystream for each batch: fresh, or a part of the seed's."""
    from deniable.randomness.simulated import part

    number = 0
    while True:
        yield Keystream.fresh() if seed is None else part(seed, number)
        number += 1

"""polars: expressions that count reports and make them.

    frame.group_by("day").agg(summarized(m, "report"))

gives the bytes of one summary for each group. polars holds the reports of a query in memory for it; those that do not
fit are counted as a stream, by `dn.summarize_by(m, lazy_frame, by=["day"])`.
"""

from __future__ import annotations

from typing import Any

from deniable.core.errors import DeniableError, InvalidArgument
from deniable.core.extras import needed
from deniable.core.reports import COLUMN
from deniable.core.validate import whole
from deniable.engines.calls import counted_of, dtype_of, privatized_column, summary_bytes
from deniable.engines.columns import width_of
from deniable.heavy_hitters.collected import LEVEL_COLUMN
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.randomness.keystream import Keystream


def summarized(mechanism: Any, column: Any = COLUMN, *, simulated: bool = False) -> Any:
    """An expression: the bytes of the summary of a group, or of all rows, named `summary`.

    `column` is a name or an expression; for heavy hitters it is `pl.struct("level", "report")`. polars keeps no
    metadata: `simulated` says whether the reports are simulated.

    >>> import polars as pl
    >>> import deniable as dn
    >>> m = dn.mechanism("grr", labels=["yes", "no"], epsilon=1.0)
    >>> frame = pl.DataFrame({"day": ["mon", "mon"], "report": m.privatize(["yes", "no"]).data})
    >>> day = frame.group_by("day").agg(summarized(m))
    >>> dn.Summary.from_bytes(day["summary"][0]).n
    2
    """
    with needed():
        import polars as pl

    counted = counted_of(mechanism)

    def count(reports: Any) -> bytes:
        return summary_bytes(counted, reports.to_arrow(), simulated)

    named = _expression(column).map_batches(count, return_dtype=pl.Binary, returns_scalar=True)
    return named.alias("summary")


def privatized(mechanism: Any, column: Any, *, seed: int | None = None) -> Any:
    """An expression: a fresh report for each value, named `report`; a struct of level and report for heavy hitters.

    Whenever a lazy frame is collected, new reports are made, and reports made twice cost epsilon twice: collect once,
    and keep the result. With a seed they are the same each time, for simulation only.
    """
    with needed():
        import polars as pl

    counted = counted_of(mechanism)
    if seed is not None:
        whole(0, seed=seed)
    number = {1: pl.UInt8, 2: pl.UInt16, 4: pl.UInt32, 8: pl.UInt64}[dtype_of(counted).itemsize]
    width = width_of(counted)
    kind: Any = number if width is None else pl.Array(number, width)
    if not isinstance(counted, Mechanism):
        kind = pl.Struct({LEVEL_COLUMN: pl.UInt16, COLUMN: kind})

    def make(values: Any) -> Any:
        keystream = Keystream.fresh() if seed is None else Keystream.seeded(seed)
        try:
            return pl.Series(privatized_column(counted, values.to_arrow(), keystream), dtype=kind)
        except InvalidArgument as error:  # polars makes errors anew, from their message alone
            raise DeniableError(str(error)) from None

    # with a seed the order counts, so all rows are made at once
    made = _expression(column).map_batches(make, return_dtype=kind, is_elementwise=seed is None)
    return made.alias(COLUMN)


def _expression(column: Any) -> Any:
    with needed():
        import polars as pl

    return pl.col(column) if isinstance(column, str) else column

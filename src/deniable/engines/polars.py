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
    and keep the result. With a seed they are the same each time, for simulation only; within `group_by` and `over`
    they are the same in each group, so make seeded reports first, and group then.

    A value for all rows has one report: a literal is refused. Of an aggregate, such as `pl.col("theme").first()`,
    polars' streaming engine copies the one report to all rows, where its other engine raises an error.
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

    # of what is elementwise, polars computes one value and copies it, where a column has the same value in all rows
    made = _of_rows(column).map_batches(make, return_dtype=kind, is_elementwise=False)
    return made.alias(COLUMN)


def _of_rows(column: Any) -> Any:
    """The expression of a column, unless it is one value for all rows, whose report would be copied."""
    with needed():
        import polars as pl

    expression = _expression(column)
    if expression.meta.is_literal(allow_aliasing=True) and pl.select(expression).height == 1:
        hint = "Its one report would be copied to all rows: make it a column first, by with_columns."
        raise InvalidArgument("column", "have a value in each row", "a literal", hint)
    return expression


def _expression(column: Any) -> Any:
    with needed():
        import polars as pl

    return pl.col(column) if isinstance(column, str) else column

"""Many machines: a Spark DataFrame of reports into a summary, or a table of them, and values into reports.

Every task counts its own partition, and the partial counts are added by an ordinary Spark aggregation. Nothing is
counted on the side, in accumulators for instance: a task that fails, or that Spark runs twice, is not counted twice.
A large group is divided among tasks as any other rows are. Where a report is one symbol, Spark counts by itself.

This works with Spark classic and with Spark Connect. The Python workers import `deniable`, so it must be installed on
all machines: `pip install 'deniable[spark]'`.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from deniable.core.errors import InvalidArgument, listed
from deniable.core.validate import whole
from deniable.engines.spark_counting import counted_on_cluster
from deniable.engines.spark_tasks import Privatize, spec_of
from deniable.engines.spark_types import columns_of, numbered, report_fields, schema_of
from deniable.grouping.counting import Counted, check_counted, report_columns
from deniable.grouping.keys import group_columns
from deniable.grouping.table import AnySummary, SummaryTable


def summarize(
    mechanism: Counted, df: Any, *, skipped: Counter[str] | None = None, simulated: bool = False
) -> AnySummary:
    """Count the reports of a Spark DataFrame into one summary, the same bytes as `mechanism.summarize` gives.

    The reports are in the column `report`, beside `level` for heavy hitters. Spark keeps no fingerprint with a
    DataFrame: the reports are taken to be of this mechanism's spec, and `simulated` says whether they are simulated.

    A row that is no report stops the job with MalformedReport; if a Counter is given as `skipped`, such rows are left
    out and counted in it, by reason.
    """
    return counted_on_cluster(mechanism, df, (), skipped, simulated).summary()


def summarize_by(
    mechanism: Counted,
    df: Any,
    by: str | list[str] | tuple[str, ...],
    *,
    skipped: Counter[str] | None = None,
    simulated: bool = False,
) -> SummaryTable:
    """Count the reports of a Spark DataFrame into one summary for each group, as `engines.spark.summarize` does.

    `by` names columns of the DataFrame. The table of summaries comes to the driver, where estimates are made:

        table = spark.summarize_by(mechanism, df, by=["day", "country"])
        table.estimate(mechanism).to_arrow()

    Cost: each task holds at most 64 MiB of counts, 96 while it makes room, or those of one group; the driver holds the
    whole table.
    """
    return counted_on_cluster(mechanism, df, group_columns(by), skipped, simulated).table()


def privatize(df: Any, column: str, mechanism: Counted, *, seed: int | None = None) -> Any:
    """Replace a column of values, one per person and row, by a column `report`; all other columns are kept.

    For heavy hitters there are two columns, `level` and `report`. Values outside the domain fail the job.

    Guarantee: epsilon for each time that a row is evaluated. A DataFrame is a recipe: every action on it, and every
    retry, evaluates it again, with fresh randomness of the operating system, and two reports of one person spend
    epsilon twice. So write the result out at once, once, and go on with what was written:

        spark.privatize(values, "answer", mechanism).write.parquet("reports")
        df = session.read.parquet("reports")

    With a seed the reports are the same as long as Spark cuts the same rows into the same partitions and batches. Such
    reports are simulated and protect nobody: say `simulated=True` when they are summarised.
    """
    counted = check_counted(mechanism)
    names = columns_of(df)
    if not isinstance(column, str) or names.count(column) != 1:
        raise InvalidArgument("column", f"name a column that occurs once in {listed(names)}", column)
    if seed is not None:
        whole(0, 2**63 - 1, seed=seed)
    place, new = names.index(column), report_columns(counted)
    after = [*names[:place], *new, *names[place + 1 :]]
    if taken := [name for name in new if after.count(name) > 1]:
        hint = "The reports go there: rename or drop yours."
        raise InvalidArgument("df", f"have no other column {taken[0]!r}", listed(names), hint)
    fields = list(df.schema.fields)
    fields[place : place + 1] = report_fields(counted)
    plain = df.toDF(*numbered(len(names)))  # in a name of its own, a dot would mean a part of a column
    task = Privatize(spec_of(counted), place, seed)
    return plain.mapInArrow(task, schema_of(fields)).toDF(*after)

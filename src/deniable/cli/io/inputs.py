"""Reports and summaries in any mix, added up: all Parquet files in one job, and the same reports twice refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deniable.cli.io.engine import Counting, counting_bar, is_dataset, is_on_disk, table_in
from deniable.cli.io.files import PARQUET, kind_of, reading, writing
from deniable.cli.io.repeats import check_counts, check_paths, described
from deniable.cli.options import check_inputs
from deniable.cli.running import STANDARD, CommandError, about
from deniable.cli.terminal import done

if TYPE_CHECKING:
    from deniable.grouping.counting import Counted
    from deniable.grouping.table import AnySummary, SummaryTable

Other = Callable[[str], tuple[Any, bool]]  # counts an input that is no Parquet file on disk; whether it lists reports
_GROUPED = "--by takes Parquet files of reports, folders and tables of summaries"


def added_up(
    names: Sequence[str], counted: Counted, other: Other, how: Counting, *, allow_repeats: bool, by: str = ""
) -> AnySummary | SummaryTable:
    """Add up all inputs into one summary or, by columns with commas between them, into a table of summaries."""
    if not allow_repeats:
        check_paths(names)
    columns = [column.strip() for column in by.split(",")] if by else []
    totals: dict[int, tuple[Any, bool]] = {}  # the summary of each input, and whether it lists reports
    parts, reports = list[Any](), list[int]()
    for place, name in enumerate(names):
        table = table_in(name)
        if table is not None:
            totals[place] = _total(name, table, counted), False
            parts.append(_over(name, table, columns) if by else totals[place][0])
        elif is_dataset(name) or _is_parquet(name):
            reports.append(place)
        elif by:
            raise CommandError(_not_grouped(name))
        else:
            totals[place] = other(name)
            parts.append(totals[place][0])
    compared = len(names) > 1 and not allow_repeats
    if reports:
        whole, each = _counted([names[place] for place in reports], counted, columns, how, compared, allow_repeats)
        parts.append(whole)
        totals |= {place: (summary, True) for place, summary in zip(reports, each, strict=bool(each))}
    how.say_what_was_skipped()
    if compared:
        check_counts([_described(names[place], *totals[place]) for place in sorted(totals)])
    return sum(parts[1:], start=parts[0]) if by else _sum(counted, parts)


def _counted(
    names: list[str], counted: Counted, columns: list[str], how: Counting, compared: bool, repeats: bool
) -> tuple[Any, list[Any]]:
    """Count all files of reports in one job and, where they are to be compared, each by itself."""
    from deniable.engines import arrow

    with counting_bar(names) as bar:
        options = {**how.options(bar), "repeats": repeats}
        if compared:
            return arrow.summarize_each(counted, names, columns, **options)
        if columns:
            return arrow.summarize_by(counted, names, columns, **options), []
        return arrow.summarize(counted, names, **options), []


def _is_parquet(name: str) -> bool:
    if not is_on_disk(name):
        return False
    with reading(name) as file, about(name):
        return kind_of(file) == PARQUET


def _not_grouped(name: str) -> str:
    if name == STANDARD:
        return f"{_GROUPED}, not standard input. Write it to a file first."
    with reading(name) as file, about(name):
        return f"{name}: {_GROUPED}, and this is {kind_of(file)}. Keep what names the group beside the reports."


def _total(name: str, table: SummaryTable, counted: Counted) -> AnySummary:
    from deniable.grouping.counting import same_spec

    same_spec(counted, table.fingerprint, f"{name}: a table of summaries")
    return table.total() if len(table) else counted.empty_summary()


def _over(name: str, table: SummaryTable, columns: list[str]) -> SummaryTable:
    from deniable.engines.partitions import typed_columns

    with about(name):
        return table.over(typed_columns(columns)[0])


def _described(name: str, summary: Any, listed: bool) -> Any:
    counts = [level.counts for level in getattr(summary, "levels", [summary])]
    return described(name, summary.n, counts, reports=listed)


def _sum(counted: Counted, parts: list[Any]) -> AnySummary:
    total: Any = counted.accumulator()
    for part in parts:
        total.merge(part)
    return total.summary()  # type: ignore[no-any-return]


def write_sum(
    names: list[str], counted: Counted, other: Other, how: Counting, output: Path, by: str | None, allow_repeats: bool
) -> None:
    """Add up all inputs, write the summary or the table of summaries, and say so."""
    from deniable.grouping.parquet import write_parquet

    check_inputs(names)
    if by is not None and not by.strip():
        raise CommandError("--by must name columns, such as day or day,country")
    if by is not None and (str(output) == STANDARD or output.suffix.lower() != ".parquet"):
        raise CommandError(f"{output}: a table of summaries is written to .parquet files")
    made: Any = added_up(names, counted, other, how, allow_repeats=allow_repeats, by=by or "")
    with writing(output) as file:
        if by is None:
            file.write(made.to_bytes())
        else:
            write_parquet(made.to_arrow(), file)
    done(f"a summary of {made.n:,} reports" if by is None else f"{len(made):,} summaries of {made.n:,} reports", output)

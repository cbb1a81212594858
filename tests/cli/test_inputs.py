"""Many inputs at once: counted in one job, whatever the shell made of a pattern; the same reports twice are refused."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deniable as dn
from deniable.cli.io import engine
from deniable.engines import jobs
from tests.cli.command import check_refusal, run, succeed
from tests.engines.samples import NAMES, sample

FILES = 6


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(name: str, folder: str = "reports") -> list[str]:
    """The spec of a sample, and its reports in some files with a column of days."""
    given = sample(name)
    Path("spec.json").write_text(spec_of(given.counted))
    Path(folder).mkdir(parents=True)
    step = -(-len(given.table) // FILES)
    paths = [f"{folder}/{place}.parquet" for place in range(FILES)]
    for place, path in enumerate(paths):
        pq.write_table(given.table.slice(place * step, step), path, row_group_size=step)
    return paths


def spec_of(counted: Any) -> str:
    return str(counted.to_json() if isinstance(counted, dn.HeavyHitters) else counted.spec.to_json())


def summarize(name: str) -> tuple[str, ...]:
    return ("heavy-hitters", "summarize") if name == "heavy hitters" else ("summarize",)


@pytest.mark.parametrize("name", NAMES)
def test_every_way_to_name_files_gives_the_bytes_of_the_plain_api(name: str, home: Path) -> None:
    paths, given = written(name), sample(name)
    shutil.copytree("reports", "parts/day=all")
    for sources in (["reports"], ["reports/*.parquet"], ["**/reports/*.parquet"], paths, ["parts"], paths[::-1]):
        succeed(*summarize(name), *sources, "--spec", "spec.json", "--threads", 2, "-o", "all.summary")
        assert Path("all.summary").read_bytes() == given.total
        succeed(*summarize(name), *sources, "--by", "day", "--spec", "spec.json", "-o", "days.parquet")
        assert dn.SummaryTable.from_arrow(pq.read_table("days.parquet")) == given.days
    succeed(*summarize(name), "days.parquet", "--spec", "spec.json", "-o", "all.summary")
    assert Path("all.summary").read_bytes() == given.total
    succeed(*summarize(name), *paths[:2], "--by", "day", "--spec", "spec.json", "-o", "some.parquet")
    rest = ("some.parquet", *paths[2:], "--by", "day", "--spec", "spec.json", "-o", "both.parquet")
    succeed(*summarize(name), *rest)
    assert dn.SummaryTable.from_arrow(pq.read_table("both.parquet")) == given.days
    assert home.exists()


@pytest.mark.parametrize("by", [[], ["--by", "day"]], ids=["no groups", "by day"])
@pytest.mark.parametrize("name", ["grr", "heavy hitters"])
def test_files_that_the_shell_has_listed_are_counted_in_one_job(
    name: str, by: list[str], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pools: list[int] = []
    pool = jobs.ThreadPoolExecutor

    def noticed(number: int, *names: Any) -> Any:
        pools.append(number)
        return pool(number, *names)

    monkeypatch.setattr(jobs, "ThreadPoolExecutor", noticed)
    output = home / ("x.parquet" if by else "x.summary")
    asked = (*summarize(name), *written(name), *by, "--spec", "spec.json", "--threads", 2, "-o", output)
    succeed(*asked)
    succeed(*asked, "--allow-repeats")
    assert pools == [2, 2]


@pytest.mark.parametrize("by", [[], ["--by", "day"]], ids=["no groups", "by day"])
@pytest.mark.parametrize("name", ["grr", "heavy hitters"])
def test_the_same_reports_twice_are_refused_or_counted_twice(name: str, by: list[str], home: Path) -> None:
    first, second, *_ = written(name)
    shutil.copy(first, "copy.parquet")
    command = summarize(name)
    succeed(*command, first, "--by", "day", "--spec", "spec.json", "-o", "table.parquet")
    succeed(*command, first, second, "--by", "day", "--spec", "spec.json", "-o", "two.parquet")
    output = home / ("x.parquet" if by else "x.summary")
    end = (*by, "--spec", "spec.json", "-o", output)
    for inputs, words in {
        (first, "copy.parquet"): "copy.parquet: these are the same 1,000 reports as in",
        (first, "table.parquet"): "table.parquet: these are the same 1,000 reports as in",
        ("table.parquet", first): f"{first}: these are the same 1,000 reports as in table.parquet",
        (first, second, "two.parquet"): "two.parquet: this is the sum of",
        (first, first): "this file is given twice",
        (first, "reports"): f"the same file as {first}. It counts twice with repeats=True (--allow-repeats)",
    }.items():
        check_refusal(run(*command, *inputs, *end), words)
        assert not output.exists()
    for inputs in ((first, "copy.parquet"), (first, first), (first, "table.parquet")):
        succeed(*command, *inputs, *end, "--allow-repeats")
        assert counted_in(output) == 2_000
        output.unlink()
    succeed(*command, first, "reports", *end, "--allow-repeats")
    assert counted_in(output) == 7_000


def counted_in(path: Path) -> int:
    if path.suffix == ".parquet":
        return dn.SummaryTable.from_arrow(pq.read_table(path)).n
    kind = dn.HitterSummary if path.read_bytes().startswith(b"DNBLH") else dn.Summary
    return kind.from_bytes(path.read_bytes()).n


def test_what_cannot_be_grouped_is_named_with_what_to_do(home: Path) -> None:
    paths = written("grr")
    succeed("summarize", *paths, "--spec", "spec.json", "-o", "all.summary")
    reports = sample("grr").reports
    Path("r.csv").write_text(f"simulated_report@{reports.fingerprint}\n1\n2\n")
    end = ("--by", "day", "--spec", "spec.json", "-o", home / "x.parquet")
    for name, words in {
        "r.csv": "r.csv: --by takes Parquet files of reports, folders and tables of summaries, and this is text",
        "all.summary": "folders and tables of summaries, and this is summary",
        "missing.parquet": "missing.parquet: No such file or directory",
    }.items():
        check_refusal(run("summarize", paths[0], name, *end), words)


@pytest.mark.parametrize("by", [[], ["--by", "day"]], ids=["no groups", "by day"])
@pytest.mark.parametrize("name", ["grr", "heavy hitters"])
def test_malformed_rows_of_many_files_are_left_out(name: str, by: list[str], home: Path) -> None:
    paths, given = written(name), sample(name)
    table = pq.read_table(paths[3])
    place = table.column_names.index("report")
    data = table["report"].to_numpy().copy()
    data[17] = 2**31
    field = table.schema.field("report")
    wrong = table.set_column(place, field, pa.array(data)).replace_schema_metadata(table.schema.metadata)
    pq.write_table(wrong, paths[3])
    output = home / ("x.parquet" if by else "x.summary")
    asked = (*summarize(name), *paths, *by, "--spec", "spec.json", "-o", output)
    check_refusal(run(*asked), "3.parquet: row group 0, row 18: report must lie from 0 to")
    left = run(*asked, "--skip-malformed")
    assert "1 rows were left out: report must lie from 0 to" in left.err
    assert counted_in(output) == len(given.table) - 1


def test_reports_of_heavy_hitters_from_a_pipe_are_read_in_parts(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written("heavy hitters")
    given = sample("heavy hitters")
    pq.write_table(given.table, "one.parquet")
    sizes: list[int] = []
    read = dn.HitterReports.from_arrow

    def noticed(table: Any) -> Any:
        sizes.append(len(table) if hasattr(table, "__len__") else table.num_rows)
        return read(table)

    monkeypatch.setattr(dn.HitterReports, "from_arrow", staticmethod(noticed))
    monkeypatch.setattr("deniable.core.batches.ROWS", 500)
    asked = ("heavy-hitters", "summarize", "-", "--spec", "spec.json", "-o", home / "x.summary")
    succeed(*asked, stdin=Path("one.parquet").read_bytes())
    assert Path("x.summary").read_bytes() == given.total
    assert max(sizes) <= 500


def test_the_bar_shows_rows_and_how_fast_they_are_counted(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[dict[str, Any]] = []

    class Bar:
        def __enter__(self) -> Bar:
            return self

        def __exit__(self, *_: object) -> None: ...

        def add_task(self, what: str, total: Any) -> int:
            seen.append({"description": what, "total": total, "completed": 0})
            return 0

        def update(self, _: int, **news: Any) -> None:
            seen.append(news)

    times = iter([10.0, *[10.004] * 1000, 20.0, *[30.0] * 1000])
    monkeypatch.setattr(engine, "progress", Bar)
    monkeypatch.setattr(engine, "monotonic", lambda: next(times))
    paths = written("grr")
    table = sample("grr").table
    pq.write_table(table, "[x].parquet")
    assert home.exists()
    succeed("summarize", *paths, "--spec", "spec.json", "-o", "all.summary")
    assert seen[-1] == {"completed": 6_000, "total": 6_000, "description": "6 inputs  1.5 million reports/s"}
    succeed("summarize", "[x].parquet", "--spec", "spec.json", "-o", "all.summary")
    assert seen[-1]["description"].startswith(r"\[x].parquet  ")  # no markup of the screen's

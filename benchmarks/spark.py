"""`python -m benchmarks.spark`: counting with Spark, against Spark itself, on the cores of this machine.

Rows of the other table are CPU time of one thread; a Spark job is many processes, so here wall time is compared, of
jobs that take turns in one session, after a warm-up of each. Results go to benchmarks/spark.json, which
docs/make_scale_picture.py shows.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import typer

import deniable as dn
from benchmarks.records import stamp

RECORD = Path(__file__).with_name("spark.json")
EPSILON, K, GROUPS = 1.0, 1024, 100
BATCH = 2**20  # reports that are made and written at a time


def only_reads(batches: Iterator[Any]) -> Iterator[Any]:
    """Count rows: what any work in Python workers costs at least."""
    import pyarrow as pa

    rows = sum(len(batch) for batch in batches)
    yield pa.RecordBatch.from_arrays([pa.array([rows], pa.int64())], ["n"])


def write(mechanism: Any, users: int, path: Path) -> None:
    """Write simulated reports, each with a group."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng, writer = np.random.default_rng(1), None
    for start in range(0, users, BATCH):
        own = min(BATCH, users - start)
        table = mechanism.privatize(rng.integers(K, size=own), seed=start).to_arrow()
        table = table.append_column("part", pa.array(rng.integers(GROUPS, size=own, dtype=np.int32)))
        writer = writer or pq.ParquetWriter(path, table.schema, compression="zstd")
        writer.write_table(table, row_group_size=BATCH // 4)
    if writer is not None:
        writer.close()


def medians(jobs: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Median wall seconds of jobs that take turns, after one turn that is not counted."""
    seconds: dict[str, list[float]] = {name: [] for name in jobs}
    for turn in range(repeats + 1):
        for name, job in jobs.items():
            start = time.perf_counter()
            job()
            if turn:
                seconds[name].append(time.perf_counter() - start)
    return {name: median(each) for name, each in seconds.items()}


def measure(mechanism: Any, df: Any, by: list[str], repeats: int) -> dict[str, Any]:
    """Ours against Spark's own: median seconds, and the goal of their ratio."""
    from deniable.engines import spark

    columns = df.select(*by, "report")
    rivals: dict[str, tuple[float, str, Callable[[], object]]] = {
        "grr": (1.2, "groupBy().count()", lambda: columns.groupBy(*columns.columns).count().toArrow()),
        "oue": (
            1.5,
            "a mapInArrow that only reads",
            lambda: columns.mapInArrow(only_reads, "n bigint").groupBy().sum("n").toArrow(),
        ),
    }
    goal, rival, job = rivals[mechanism.name]
    found = medians(
        {
            "ours": lambda: spark.summarize_by(mechanism, df, by) if by else spark.summarize(mechanism, df),
            rival: job,
        },
        repeats,
    )
    return {"ours": found["ours"], "rival": rival, "theirs": found[rival], "goal": goal}


def shown(row: dict[str, Any]) -> str:
    """One row of the record in one line."""
    groups = f"{row['groups']} groups" if row["groups"] else "no groups"
    ratio = f"ratio {row['ours'] / row['theirs']:.2f} (goal: at most {row['goal']})"
    times = f"ours {row['ours']:.2f} s, {row['rival']} {row['theirs']:.2f} s"
    return f"{row['mechanism']}, {row['reports']:,} reports, {groups}: {times}, {ratio}"


def main(
    symbols: Annotated[int, typer.Option(help="Reports of grr.")] = 20_000_000,
    bitmaps: Annotated[int, typer.Option(help="Reports of oue.")] = 1_000_000,
    repeats: Annotated[int, typer.Option(help="Turns that are counted.")] = 5,
) -> None:
    """Measure ours and Spark's own in one session, as ratios, and keep the record."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession

    builder: Any = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false").config("spark.driver.memory", "3g")
    session, rows = builder.getOrCreate(), list[dict[str, Any]]()
    try:
        with tempfile.TemporaryDirectory() as folder:
            for name, users in (("grr", symbols), ("oue", bitmaps)):
                mechanism, path = dn.mechanism(name, k=K, epsilon=EPSILON), Path(folder, f"{name}.parquet")
                write(mechanism, users, path)
                df = session.read.parquet(str(path))
                for by in ([], ["part"]):
                    about = {"mechanism": name, "reports": users, "groups": GROUPS if by else 0}
                    rows.append({**about, **measure(mechanism, df, by, repeats)})
                    print(shown(rows[-1]), flush=True)
    finally:
        session.stop()
    record = {**stamp("numpy", "pyarrow", "pyspark"), "k": K, "repeats": repeats, "rows": rows}
    RECORD.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    typer.run(main)

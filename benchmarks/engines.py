"""Files into summaries, against reading them and against DuckDB.

    python -m benchmarks.engines [--users 1e9] [--only grr,csr,clh,olh,oue,simulate,privatize]

Makes a folder of simulated Parquet files (zstd, k = 1,024, a column of 1,000 groups beside the reports), and measures
in one run: reading the columns alone with pyarrow, row group by row group on the same number of threads; our engine;
DuckDB's GROUP BY. Each job runs in a process of its own, which calls it twice and times the second call; the jobs
take turns, and the best of two turns counts. Results go to benchmarks/engines.json, which docs/make_scale_picture.py
draws; with --only, those of the others stay. How fast reports are made, by `simulate` and `privatize`, is measured
too.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import deniable as dn
from benchmarks import making
from benchmarks.records import stamp
from deniable.core.parquet import how_written
from deniable.engines import arrow
from deniable.engines.simulated import simulate_files
from deniable.kernels import compile_everything

RECORD = Path(__file__).with_name("engines.json")
K, GROUPS, FILE_ROWS, GROUP_ROWS = 1024, 1000, 10**7, 2**20
OTHERS, OTHER_USERS, ROUNDS = ("csr", "clh", "olh", "oue"), 10**7, 2
PACKAGES = ("numpy", "numba", "pyarrow", "duckdb")
GOALS = {"ours / reading": 1.5, "ours by group / reading": 3.0, "ours / DuckDB": 1.0}


def mechanism(name: str) -> Any:
    return dn.mechanism(name, k=K, epsilon=1.0)


def make(folder: Path, name: str, users: int) -> None:
    """Write simulated reports, a file of ten million at a time."""
    m, random = mechanism(name), np.random.default_rng(0)
    for number, start in enumerate(range(0, users, FILE_ROWS)):
        rows = min(FILE_ROWS, users - start)
        with pq.ParquetWriter(folder / f"{number:04}.parquet", schema(m), **how_written()) as writer:
            for part in range(0, rows, GROUP_ROWS):
                n = min(GROUP_ROWS, rows - part)
                reports = m.privatize(random.integers(0, K, n), seed=start + part).to_arrow()
                keys = pa.array(random.integers(0, GROUPS, n, dtype=np.int32))
                writer.write_table(reports.append_column("g", keys).cast(schema(m)))


def schema(m: Any) -> Any:
    own = m.privatize([], seed=0).to_arrow().schema
    return own.append(pa.field("g", pa.int32()))


def read(folder: Path, columns: list[str], threads: int) -> None:
    """Read columns and drop them."""

    def one(place: tuple[Path, int]) -> None:
        with pq.ParquetFile(place[0]) as file:
            for _ in file.iter_batches(GROUP_ROWS, [place[1]], columns, use_threads=False):
                pass

    places = [
        (path, group)
        for path in sorted(folder.glob("*.parquet"))
        for group in range(pq.read_metadata(path).num_row_groups)
    ]
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(one, places))


def duck(folder: Path, columns: str, threads: int) -> None:
    import duckdb

    with duckdb.connect(config={"threads": threads}) as connection:
        connection.sql(f"select {columns}, count(*) from '{folder}/*.parquet' group by {columns}").fetchnumpy()


def jobs(folder: Path, name: str, threads: int, users: int) -> dict[str, Callable[[], Any]]:
    m = mechanism(name)
    return {
        **making.jobs(m, folder, users, threads),
        "reading": lambda: read(folder, ["report"], threads),
        "reading with groups": lambda: read(folder, ["report", "g"], threads),
        "ours": lambda: arrow.summarize(m, folder, threads=threads),
        "ours by group": lambda: dn.summarize_by(m, folder, "g", threads=threads),
        "DuckDB": lambda: duck(folder, "report", threads),
    }


def one(folder: str, name: str, job: str, threads: str, users: str) -> dict[str, float]:
    """Run one job in this process, once to load, compile and have the files in memory, and then for real."""
    compile_everything()
    run = jobs(Path(folder), name, int(threads), int(users))[job]
    run()
    wall, cpu = time.perf_counter(), time.process_time()
    run()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return {"wall": wall, "cpu": cpu, "MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def measured(folder: Path, name: str, wanted: list[str], threads: int, users: int = 0) -> dict[str, dict[str, float]]:
    """The best of several rounds in which the jobs take turns."""
    best: dict[str, dict[str, float]] = {}
    for _ in range(ROUNDS):
        for job in wanted:
            given = [str(folder), name, job, str(threads), str(users)]
            command = [sys.executable, "-m", "benchmarks.engines", "--one", *given]
            found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            kept = best.setdefault(job, found)
            best[job] = {
                what: max(kept[what], found[what]) if what == "MB" else min(kept[what], found[what]) for what in kept
            }
    return best


def main(users: int, only: list[str]) -> None:
    """Measure at three sizes and on one and two threads, print ratios, and keep the record."""
    record: dict[str, Any] = json.loads(RECORD.read_text()) if RECORD.is_file() else {}
    record |= {"k": K, "groups": GROUPS, "goals": GOALS}
    if "grr" in only:
        record["grr"] = {**stamp(*PACKAGES), "found": of_grr(users)}
    if others := [name for name in OTHERS if name in only]:
        before = record.get("others", {}).get("found", {})
        kept = {key: found for key, found in before.items() if key.split()[0] not in others}
        record["others"] = {**stamp(*PACKAGES), "found": kept | of_others(others, min(users, OTHER_USERS))}
    if made := [name for name in making.MOST if name in only]:
        before = record.get("making", {}).get("found", {})
        kept = {key: found for key, found in before.items() if key.split()[0] not in made}
        record["making"] = {**stamp(*PACKAGES), "found": kept | of_making(made, users)}
    RECORD.write_text(json.dumps(record, indent=1) + "\n")


def of_grr(users: int) -> dict[str, Any]:
    """Everything, at three sizes, on one thread and on two."""
    record, everything = {}, ["reading", "reading with groups", "ours", "ours by group", "DuckDB"]
    for size in (users // 100, users // 10, users):
        with tempfile.TemporaryDirectory() as folder:
            make(Path(folder), "grr", size)
            for threads in (1, 2):
                found = measured(Path(folder), "grr", everything, threads)
                record[f"{size} {threads}"] = found
                show(f"grr, {size:,} reports, {threads} threads", found)
    return record


def of_others(names: list[str], users: int) -> dict[str, Any]:
    """Reading and counting, of mechanisms with other reports."""
    record = {}
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            simulate_files(mechanism(name), Path(folder, "reports"), users)
            found = record[f"{name} {users}"] = measured(Path(folder, "reports"), name, ["reading", "ours"], 2)
            show(f"{name}, {users:,} reports, 2 threads", found)
    return record


def of_making(names: list[str], users: int) -> dict[str, Any]:
    """How fast reports of grr are made, on one thread and on two, and how many bytes the files have."""
    record = {}
    for name in names:
        size = min(users, making.MOST[name])
        with tempfile.TemporaryDirectory() as folder:
            for threads in (1, 2):
                found: dict[str, Any] = measured(Path(folder), "grr", list(making.names(name)), threads, size)
                for job, numbers in found.items():
                    numbers["bytes"] = making.size_of(Path(folder, job.split()[-1]))
                record[f"{name} {size} {threads}"] = found
                show(f"{name}, {size:,} reports, {threads} threads", found)
    return record


def show(title: str, found: dict[str, dict[str, float]]) -> None:
    print(title)
    for job, numbers in found.items():
        print(f"  {job:20} {numbers['wall']:8.3f} s  {numbers['cpu']:8.3f} s CPU  {numbers['MB']:6.0f} MB")
    for ratio, goal in GOALS.items():
        first, second = ratio.split(" / ")
        rival = {"reading": "reading with groups" if "group" in first else "reading"}.get(second, second)
        if first in found and rival in found:
            value = found[first]["wall"] / found[rival]["wall"]
            print(f"  {ratio:30} {value:5.2f}  (goal {goal})", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(one(*sys.argv[2:])))
    else:
        given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
        given.add_argument("--users", type=float, default=1e9, help="reports of grr, and at most of the others")
        everything = ",".join(("grr", *OTHERS, *making.MOST))
        given.add_argument("--only", default=everything, help=f"some of {everything}, with commas between them")
        chosen = given.parse_args()
        main(int(chosen.users), chosen.only.split(","))

"""Peak memory of every command whose input grows with the number of users, at few and at many.

    python -m benchmarks.memory [--users 1e6,1e7,1e8,1e9] [--only summarize]

Inputs repeat the same million users as often as it takes, since memory does not care who they are. Beyond 1e8 users
the same file is named several times, to the commands that take several. Each command runs
as a process of its own, which says in the end how much memory it had at most. Results go to benchmarks/memory.json,
which docs/make_scale_picture.py shows.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.records import stamp

RECORD = Path(__file__).with_name("memory.json")
SIZES = "1e6,1e7,1e8,1e9"
ONE_FILE = 10**8  # users in a file, at most
PART, K, WORDS, GROUPS = 2**20, 1024, 200, 100
_CHILD = """
import sys
from deniable.cli import main
code = main(sys.argv[1:])
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(peak.split()[1], file=sys.stderr)
sys.exit(code)
"""
COMMANDS = {
    "privatize": "privatize values.parquet --spec spec.json --overwrite -o out.parquet",
    "summarize": "summarize reports.parquet --spec spec.json -o out.summary",
    "summarize --by": "summarize reports.parquet --by g --spec spec.json -o table.parquet",
    "simulate": "simulate --spec spec.json --users {users} --by day=10 --overwrite --out simulated",
    "estimate": "estimate reports.parquet --spec spec.json --json",
    "decode": "decode open.parquet --spec open.json --candidates words.csv --json",
    "heavy-hitters privatize": "heavy-hitters privatize words.parquet --spec hh.json --overwrite -o out.parquet",
    "heavy-hitters summarize": "heavy-hitters summarize hh.parquet --spec hh.json -o out.summary",
}
SEVERAL = ("summarize", "summarize --by", "heavy-hitters summarize")  # take one file several times
NEEDS = {  # the inputs of each command, by their stem
    "privatize": "values",
    "simulate": "",
    "decode": "open",
    "heavy-hitters privatize": "words",
    "heavy-hitters summarize": "hh",
}


def specs(folder: Path) -> dict[str, Any]:
    """What is measured: randomised response, strings with candidates, and strings without."""
    import deniable as dn

    made = {
        "spec": dn.mechanism("grr", k=K, epsilon=1.0),
        "open": dn.mechanism("orr", domain=dn.Domain.open(), epsilon=2.0),
        "hh": dn.HeavyHitters.new(epsilon=4.0, max_bytes=4, alphabet="abcdefgh"),
    }
    for name, counted in made.items():
        document = counted.to_json() if isinstance(counted, dn.HeavyHitters) else counted.spec.to_json()
        (folder / f"{name}.json").write_text(document)
    (folder / "words.csv").write_text("word\n" + "".join(f"{word}\n" for word in words()))
    return made


def words() -> list[str]:
    """Strings of four of eight letters."""
    return ["".join("abcdefgh"[place >> 3 * letter & 7] for letter in range(4)) for place in range(WORDS)]


def tables(made: dict[str, Any]) -> dict[str, Callable[[], Any]]:
    """A million rows of each input."""
    import numpy as np
    import pyarrow as pa

    numbers = np.arange(PART)
    strings = pa.array(words()).take(pa.array(numbers % WORDS))
    groups = pa.array(numbers % GROUPS)
    return {
        "values": lambda: pa.table({"value": numbers % K}),
        "words": lambda: pa.table({"word": strings}),
        "reports": lambda: made["spec"].privatize(numbers % K, seed=1).to_arrow().append_column("g", groups),
        "open": lambda: made["open"].privatize(strings, seed=1).to_arrow(),
        "hh": lambda: made["hh"].privatize(strings, seed=1).to_arrow(),
    }


def write(folder: Path, stem: str, users: int) -> None:
    """Write an input of so many users."""
    import pyarrow.parquet as pq

    from deniable.core.parquet import how_written

    table = tables(specs(folder))[stem]()
    with pq.ParquetWriter(folder / f"{stem}.parquet", table.schema, **how_written()) as writer:
        for start in range(0, users, PART):
            writer.write_table(table[: min(PART, users - start)])


def peak(folder: Path, command: str) -> dict[str, float]:
    """Run a command as a process of its own; return its peak memory and how long it took."""
    start = time.perf_counter()
    asked = [sys.executable, "-c", _CHILD, *command.split()]
    done = subprocess.run(asked, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{command}: {done.stderr}")
    return {"MB": int(done.stderr.split()[-1]) / 1024, "seconds": time.perf_counter() - start}


def measured(sizes: list[int], only: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The peaks of every command at all sizes."""
    for name, command in COMMANDS.items():
        if only not in name:
            continue
        found, stem = {}, NEEDS.get(name, "reports")
        for users in sizes:
            times = -(-users // ONE_FILE)
            if times > 1 and name not in SEVERAL:
                continue
            with tempfile.TemporaryDirectory() as folder:
                specs(Path(folder))
                if stem:
                    write(Path(folder), stem, min(users, ONE_FILE))
                asked = command.format(users=users)
                if times > 1:
                    asked = asked.replace(f"{stem}.parquet", f"{stem}.parquet " * times) + " --allow-repeats"
                found[str(users)] = peak(Path(folder), asked)
        yield name, found
        print(f"{name:26}", *(f"{size['MB']:7.0f} MB" for size in found.values()), flush=True)


def main() -> None:
    """Measure, print, and keep the record; with --only, the other commands keep theirs."""
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("--users", default=SIZES, help="numbers of users, from few to many, with commas")
    given.add_argument("--only", default="", help="measure the commands whose name contains this")
    chosen = given.parse_args()
    sizes = [int(float(each)) for each in chosen.users.split(",")]
    found = json.loads(RECORD.read_text())["found"] if RECORD.is_file() else {}
    for name, each in measured(sizes, chosen.only):
        found[name] = each
        in_order = {known: found[known] for known in COMMANDS if known in found}
        RECORD.write_text(json.dumps({**stamp("numpy", "pyarrow"), "found": in_order}, indent=1) + "\n")


if __name__ == "__main__":
    main()

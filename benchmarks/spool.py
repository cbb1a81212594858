"""What a report costs on its way through a spool, in processor time: for docs/beyond-one-database.md.

    python -m benchmarks.spool

Processor time, not seconds on the wall, so that other work on the machine changes it little. Real reports, real HTTP.
"""

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from deniable.collector.load.address import Address
from deniable.collector.load.administration import SEGMENT, Administration
from deniable.collector.load.plan import Plan
from deniable.collector.load.sending import Run
from deniable.collector.load.traffic import Target, Traffic
from deniable.collector.spool.counting import Question, count_files
from deniable.collector.spool.layout import partitions
from deniable.mechanisms.registry import mechanism
from deniable.wire.buckets import DAY, Buckets
from deniable.wire.keys import Key

PLANS = {
    "single reports": Plan(users=30_000, connections=64),
    "batches of 1,000 with ids": Plan(users=1_000_000, batch=1_000, ids=True, connections=8),
    "batches of 10,000 as a whole": Plan(users=5_000_000, batch=10_000, connections=4),
}


def spent(who: int) -> float:
    """Seconds of processor time."""
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def taken(spool: Path, plan: Plan | None) -> float:
    """Processor time of a collector that takes the reports of a plan, its start and end included."""
    before = spent(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        words = ("serve", folder, "--port", "0", "--log", "none", "--json", "--spool", str(spool))
        process = subprocess.Popen([sys.executable, "-m", "deniable", *words], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        url = json.loads(process.stdout.readline())["address"]
        key = Key.read((Path(folder) / "admin.key").read_text().strip())
        office, asked = Administration(Address.loopback(url), key), mechanism("grr", k=1024, epsilon=2.0)
        secret, places = office.make_collection(asked, time.time())
        if plan is not None:
            target = Target(office.address, asked, secret, places)
            work = Run(plan, target, Traffic(plan, target))
            asyncio.run(work.go())
            assert work.tally.acknowledged == plan.users, work.tally.to_dict()
        process.terminate()
        process.wait()
    return spent(resource.RUSAGE_CHILDREN) - before


def main() -> None:
    """Print a table."""
    asked = mechanism("grr", k=1024, epsilon=2.0)
    question = Question(asked, Buckets.of(DAY), (SEGMENT,), 168)
    with tempfile.TemporaryDirectory() as folder:
        idle = min(taken(Path(folder), None) for _ in range(2))
    print("| reports | taking, us each | reports/s and core | bytes each | counting, us each |\n|---|--:|--:|--:|--:|")
    for name, plan in PLANS.items():
        with tempfile.TemporaryDirectory() as folder:
            spool = Path(folder)
            taking = (taken(spool, plan) - idle) / plan.users
            size = sum(path.stat().st_size for path in spool.rglob("*.parquet")) / plan.users
            before = spent(resource.RUSAGE_SELF)
            for partition in partitions(spool):
                count_files(sorted(partition.folder(spool).glob("*.parquet")), partition, question)
            counting = (spent(resource.RUSAGE_SELF) - before) / plan.users
        print(f"| {name} | {1e6 * taking:.2f} | {1 / taking:,.0f} | {size:.1f} | {1e6 * counting:.2f} |", flush=True)


if __name__ == "__main__":
    main()

"""Kill a collector at random moments while it takes reports, and look whether any was lost or counted twice.

    python -m benchmarks.kills --kills 10000
    python -m benchmarks.kills --kills 10000 --postgresql

Each collector is a process of its own, `deniable serve` on the same folder or database, ended by SIGKILL: after a
random time of work, or while it is still starting. The clients send on: what has no answer is sent again, the same
bytes.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import secrets
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from deniable.collector.load.address import Address
from deniable.collector.load.plan import MAX_USERS, Plan
from deniable.collector.load.run import run
from deniable.collector.load.tally import Tally
from deniable.collector.load.verdict import Verdict
from deniable.wire.keys import ADMIN, Key

_WORK_SECONDS = 0.3  # mean time between the start of a collector and its end
_EARLY = 0.2  # share of collectors that are killed while they start
_START_SECONDS = 60.0
PLANS = {
    "single reports": Plan(users=MAX_USERS, connections=16, rate=2_000.0, replays=0.2, malformed=0.05, seconds=3600),
    "batches": Plan(users=MAX_USERS, batch=500, connections=4, rate=200_000.0, replays=0.2, seconds=3600),
    "batches with ids": Plan(
        users=MAX_USERS, batch=100, ids=True, connections=4, rate=10_000.0, replays=0.2, seconds=3600
    ),
}


def serve(address: str, port: int, key: str, options: tuple[str, ...]) -> None:
    """What a process does: it is a collector until it is killed."""
    import os

    from deniable.cli import main

    os.environ["DENIABLE_ADMIN_KEY"] = key
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115  (the process ends by being killed)
    where = ["--database", address] if "://" in address else [address]
    sys.exit(main(["serve", *where, "--port", str(port), "--log", "none", "--json", *options]))


@dataclass
class Mortal:
    """A collector that is killed again and again, until it has died so many times; then it stays."""

    address: Path | str  # a folder, or a postgresql:// address
    kills: int
    rng: np.random.Generator
    options: tuple[str, ...] = ()  # more of `deniable serve`
    key: Key = field(default_factory=lambda: Key.new(ADMIN))
    deaths: int = 0
    port: int = 0
    fault: BaseException | None = None

    def __post_init__(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        # processes that have imported everything already, so that dying is what takes the time
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["deniable.cli.commands.serve", "deniable.collector.running", __name__])
        self._begun, self._stopping = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._live_and_die, name="kills")

    def __enter__(self) -> Mortal:
        self._start()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._begun.set()
        self._thread.join()
        self._process.terminate()
        self._process.join(20)
        if self._process.is_alive():
            self._process.kill()

    def immortal(self) -> bool:
        """Whether it dies no more; it begins to die when this is first asked, by clients that have begun to send."""
        self._begun.set()
        return not self._thread.is_alive()

    def _start(self, patience: float = _START_SECONDS) -> None:
        arguments = (str(self.address), self.port, self.key.text, self.options)
        self._process = self._context.Process(target=serve, args=arguments, daemon=True)
        self._process.start()
        end = time.monotonic() + patience
        while time.monotonic() < end:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.005)
        if patience == _START_SECONDS:
            raise TimeoutError("the collector did not start")

    def _live_and_die(self) -> None:
        self._begun.wait()
        try:
            while self.deaths < self.kills and not self._stopping.is_set():
                time.sleep(self.rng.exponential(_WORK_SECONDS))
                self._kill()
                if self.rng.random() < _EARLY and self.deaths < self.kills:
                    self._start(patience=self.rng.exponential(_WORK_SECONDS / 4))
                    self._kill()
                self._start()
        except BaseException as fault:
            self.fault = fault

    def _kill(self) -> None:
        self._process.kill()
        self._process.join()
        self.deaths += 1


def judge(address: Path | str, kills: int, plan: Plan, seed: int, watch: bool = False) -> tuple[Verdict, Mortal]:
    """Kill a collector so many times under this load, and judge what it counted."""
    with Mortal(address, kills, np.random.default_rng(seed)) as mortal:

        def show(tally: Tally) -> None:
            if watch:
                print(
                    f"\r{mortal.deaths:,} kills, {tally.acknowledged:,} reports acknowledged", end="", file=sys.stderr
                )

        listening = Address.loopback(f"http://127.0.0.1:{mortal.port}")
        verdict = run(listening, mortal.key, plan, watch=show, enough=mortal.immortal, patience=_START_SECONDS)
    if mortal.fault is not None:
        raise mortal.fault
    return verdict, mortal


@contextlib.contextmanager
def stores(address: str, postgresql: bool) -> Iterator[Callable[[], str]]:
    """Where each kind of load goes: the database of this address, new ones of a server of our own, or new folders."""
    with contextlib.ExitStack() as stack:
        if address:
            yield lambda: address
        elif postgresql:
            from tests.collector.servers import running_server

            yield stack.enter_context(running_server()).new_database
        else:
            yield lambda: stack.enter_context(tempfile.TemporaryDirectory(prefix="deniable-kills-"))


def main() -> int:
    """Kill collectors under each kind of load; 1 if one lost a report or counted one twice."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--kills", type=int, default=300, help="how many kills, in all")
    parser.add_argument("--seed", type=int, default=secrets.randbits(32))
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--address", default="", help="a postgresql:// address; by default a temporary folder")
    where.add_argument("--postgresql", action="store_true", help="start a PostgreSQL server for it")
    asked = parser.parse_args()
    print(f"seed {asked.seed}")
    with stores(asked.address, asked.postgresql) as new:
        good = [
            all_good(new(), name, -(-asked.kills // len(PLANS)), asked.seed + number)
            for number, name in enumerate(PLANS)
        ]
    return 0 if all(good) else 1


def all_good(address: str, name: str, kills: int, seed: int) -> bool:
    """Kill so often under one kind of load, and say what came of it."""
    good = True
    # an hour is the most that a run may take, so a night has several
    while kills > 0:
        verdict, mortal = judge(address, min(kills, 1_000), PLANS[name], seed, watch=sys.stderr.isatty())
        kills -= mortal.deaths
        good &= verdict.good
        tally = verdict.tally
        print(
            f"{name}: {mortal.deaths:,} kills, {tally.seconds:.0f} s, {tally.acknowledged:,} reports acknowledged, "
            f"{tally.unanswered:,} connections lost: {'; '.join(verdict.sentences)}",
            flush=True,
        )
    return good


if __name__ == "__main__":
    sys.exit(main())

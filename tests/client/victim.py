"""Processes that answer and send, and are killed in the middle: `python -m tests.client.victim` makes them by forking.

It reads jobs as lines of JSON and answers each with a line, when all processes of the job have ended. A process is
killed before its database statement number `kill_at`, or `kill_after` seconds after it began.
"""

from __future__ import annotations

import itertools
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from deniable.client import Backoff, Client, store
from tests import ROOT
from tests.client.collector import NAME
from tests.client.conftest import QUICKLY


def act(job: dict[str, Any]) -> None:
    """What one process does."""
    store._DURABLE = QUICKLY
    kill_at = job.get("kill_at")
    if kill_at is not None:
        count, connect = itertools.count(), sqlite3.connect

        def counted(_: str) -> None:
            if next(count) == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)

        def traced(*arguments: Any, **options: Any) -> sqlite3.Connection:
            database: sqlite3.Connection = connect(*arguments, **options)
            database.set_trace_callback(counted)
            return database

        sqlite3.connect = traced  # type: ignore[assignment]
    options = {"delay": 0.0, "timeout": 5.0, "backoff": Backoff(0.001, 0.002), "person": job.get("person", "")}
    client = Client(job["url"], job["key"], NAME, store=job["store"], **options)
    client.consent(True)
    for action, *values in job["actions"]:
        getattr(client, action)(*values)


def run(jobs: list[dict[str, Any]]) -> list[int]:
    """Run jobs side by side; return how each ended, by the number of the signal or an exit code."""
    children: dict[int, int] = {}
    for place, job in enumerate(jobs):
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                act(job)
                code = 0
            finally:
                os._exit(code)
        children[pid] = place
    for pid, place in children.items():
        if (after := jobs[place].get("kill_after")) is not None:
            time.sleep(after)
            os.kill(pid, signal.SIGKILL)
    ends = [0] * len(jobs)
    for pid, place in children.items():
        ends[place] = abs(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    return ends


class Victims:
    """The program that makes the processes, started once."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, *jobs: dict[str, Any]) -> list[int]:
        """Run jobs side by side, and wait for all of them."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(jobs) + "\n")
        self._process.stdin.flush()
        found: list[int] = json.loads(self._process.stdout.readline())
        return found


@contextmanager
def victims() -> Iterator[Victims]:
    """Start the program; it ends with the block."""
    command = [sys.executable, "-m", "tests.client.victim"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        yield Victims(process)
        assert process.stdin is not None
        process.stdin.close()


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line))), flush=True)  # noqa: T201

"""What audits find in other libraries: `make audit-peers` rewrites the table of docs/audited-elsewhere.md."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from deniable.auditing.empirical.adapters import Adapter
from deniable.auditing.empirical.audit import EmpiricalAudit
from deniable.auditing.empirical.search import audit_black_box
from deniable.core.arrays import Integers
from tools.peer_reports import CLIENTS, EPSILON, VALUES

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "audited-elsewhere.md"
ALPHA = 1e-9
TRIALS = 500_000
SLOW = {"opendp-response": 100_000, "opendp-bool": 200_000}  # a tenth of a millisecond or more each
TWO = ("opendp-bool", "diffprivlib-binary")  # clients of two values
_TABLE = re.compile(r"(?<=<!-- measured: audits -->\n).*?(?=<!-- end -->)", re.DOTALL)


class Missing(Exception):
    """A client cannot be run, for the reason that is given."""


@dataclass(frozen=True)
class Peers:
    """A process in the peers' environment that makes reports."""

    requests: IO[bytes]
    answers: IO[bytes]

    def rows(self, client: str, value: int, n: int) -> tuple[Integers, str]:
        """Reports of a client, and its version."""
        self.requests.write(json.dumps([client, value, n]).encode() + b"\n")
        self.requests.flush()
        head = json.loads(self.answers.readline() or '{"missing": "the process ended"}')
        if "missing" in head:
            raise Missing(head["missing"])
        size = 8 * int(np.prod(head["shape"]))
        return np.frombuffer(self.answers.read(size), np.int64).reshape(head["shape"]), head["version"]


@contextmanager
def peers(python: Path) -> Iterator[Peers]:
    """The process, ended afterwards."""
    command = [str(python.absolute()), "-m", "tools.peer_reports"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield Peers(process.stdin, process.stdout)
        process.stdin.close()


def audited(running: Peers, client: str, trials: int | None = None) -> tuple[EmpiricalAudit, str]:
    """The audit of one client, and its version."""
    _, version = running.rows(client, 0, 1)
    values = 2 if client in TWO else VALUES
    adapter = Adapter(lambda value, n: running.rows(client, value, n)[0], values, epsilon=EPSILON, name=client)
    number = SLOW.get(client, TRIALS) if trials is None else trials
    return audit_black_box(adapter, number, ALPHA), version


def line(client: str, found: EmpiricalAudit | None, version: str, why: str = "") -> str:
    """A row of the table."""
    library, what, _ = CLIENTS[client]
    if found is None:
        return f"| {library} | {what} | | | {why} |"
    verdict = f"**{found.bound:.3f}**, above the promise" if found.exceeds else f"{found.bound:.3f}"
    return f"| {library} {version} | `{what}` | {found.promised:g} | {verdict} | {found.trials:,} |"


def table(lines: Sequence[str]) -> str:
    """The table of the page."""
    head = ["| library | client | promised | spends at least | reports |", "|---|---|---|---|---|"]
    return "\n".join(["", *head, *lines, "", ""])


def main(arguments: Sequence[str]) -> int:
    """Audit every client, or those that are named, and rewrite the table; return 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", type=Path, required=True, help="the interpreter of the peers' environment")
    parser.add_argument("clients", nargs="*", default=list(CLIENTS))
    given = parser.parse_args(arguments)
    lines = []
    with peers(given.peers) as running:
        for client in given.clients:
            try:
                found, version = audited(running, client)
            except Missing as missing:
                found, version = None, str(missing)
            lines.append(line(client, found, version, f"could not be run: {version}"))
            sys.stdout.write(f"{lines[-1]}\n{'' if found is None else found}\n\n")
            sys.stdout.flush()
    if list(given.clients) == list(CLIENTS):
        PAGE.write_text(_TABLE.sub(lambda _: table(lines), PAGE.read_text()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The history of runs, one JSON line per run: what was measured, with which versions, on which processor.

A record holds no host name and no path.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from benchmarks.goals import Verdict
from benchmarks.registry import Outcome
from deniable import __version__


@dataclass(frozen=True)
class Record:
    """One run."""

    date: str
    versions: Mapping[str, str]
    cpu: str
    limits: Mapping[str, float]
    outcomes: tuple[Outcome, ...]

    @staticmethod
    def now(limits: Mapping[str, float], outcomes: tuple[Outcome, ...]) -> Record:
        """A record of this moment and this machine."""
        versions = {"deniable": __version__, "python": platform.python_version()}
        versions |= {name: metadata.version(name) for name in ("numpy", "numba")}
        return Record(datetime.now(UTC).isoformat(timespec="seconds"), versions, cpu(), limits, outcomes)

    def to_json(self) -> str:
        """The record in one line."""
        return json.dumps(asdict(self), ensure_ascii=False, allow_nan=False)

    @staticmethod
    def from_json(line: str) -> Record:
        """The record in a line."""
        document = json.loads(line)
        outcomes = [
            Outcome(**{**outcome, "verdicts": tuple(Verdict(**verdict) for verdict in outcome["verdicts"])})
            for outcome in document.pop("outcomes")
        ]
        return Record(**document, outcomes=tuple(outcomes))


def append(path: Path, record: Record) -> None:
    """Add a run to the history."""
    with path.open("a", encoding="utf-8") as file:
        file.write(record.to_json() + "\n")


def last(path: Path) -> Record | None:
    """The newest run, if there is any."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return Record.from_json(lines[-1]) if lines else None


def cpu() -> str:
    """The processor's model, as the system names it."""
    information = Path("/proc/cpuinfo")
    if information.is_file():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()

"""Where and when a record was measured; no host name and no path."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from deniable import __version__


def stamp(*packages: str) -> dict[str, Any]:
    """The date, the machine, and the versions of what was measured."""
    versions = {"deniable": __version__, "python": platform.python_version()}
    versions |= {name: metadata.version(name) for name in packages}
    return {"date": now(), "cpu": cpu(), "cores": os.cpu_count(), "versions": versions}


def now() -> str:
    """This moment, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def cpu() -> str:
    """The processor's model, as the system names it."""
    information = Path("/proc/cpuinfo")
    if information.is_file():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()

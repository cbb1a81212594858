"""Ask the OSV database for known vulnerabilities of every locked package: `make advisories`.

Exits with 1 if there is one. Where the database cannot be reached within seconds, says so in one line and exits with 0.
"""

from __future__ import annotations

import json
import sys
import urllib.request
from collections.abc import Callable, Sequence
from typing import Any

from tools.locked import Locked, everything

_DATABASE = "https://api.osv.dev/v1/querybatch"
_SECONDS = 10


def ask(question: dict[str, Any]) -> Any:
    """Send one question to the database."""
    request = urllib.request.Request(
        _DATABASE, json.dumps(question).encode(), {"Content-Type": "application/json"}, method="POST"
    )
    with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
        return json.load(answer)


def advisories(packages: Sequence[Locked], asked: Callable[[dict[str, Any]], Any] = ask) -> list[str]:
    """One line per known vulnerability."""
    queries = [
        {"package": {"ecosystem": each.ecosystem, "name": each.name}, "version": each.version} for each in packages
    ]
    results = asked({"queries": queries})["results"]
    return [
        f"{each.name} {each.version} ({each.ecosystem}): {found['id']}"
        for each, result in zip(packages, results, strict=True)
        for found in result.get("vulns", [])
    ]


def main(asked: Callable[[dict[str, Any]], Any] = ask) -> int:
    """Print what is known, and return the exit status."""
    listed = {(each.ecosystem, each.name, each.version): each for locked in everything().values() for each in locked}
    packages = [listed[key] for key in sorted(listed)]
    try:
        found = advisories(packages, asked)
    except (OSError, ValueError, KeyError, TypeError) as error:  # no network, or not the database's answer
        sys.stdout.write(f"not checked: the advisory database gave no answer ({type(error).__name__}: {error})\n")
        return 0
    sys.stdout.write("".join(f"{line}\n" for line in found) or f"no known advisory for {len(packages)} packages\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

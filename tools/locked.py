"""The packages of all lock files, of Python and of npm, with the licences that they or installed metadata state."""

from __future__ import annotations

import base64
import json
import re
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
DEVICE = "device"  # what `pip install deniable` takes
REQUIREMENTS = (DEVICE, "demo", "dev", "spark", "peers")
NPM = ("clients/typescript", "dashboard")
_PINNED = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)(?: ; (.*?))?(?: \\)?$")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
_OSI = "License :: OSI Approved :: "


class Locked(NamedTuple):
    """A package as it is locked: one version, where it applies, and the hashes of its files."""

    name: str
    version: str
    marker: str
    hashes: tuple[str, ...]  # in hexadecimal: SHA-256 for Python, SHA-512 for npm
    ecosystem: str = "PyPI"  # as the OSV database calls it
    licence: str | None = None  # where the lock file states it


def locked(name: str, folder: Path = ROOT / "requirements") -> list[Locked]:
    """Read all packages of a requirements file, in order."""
    found: list[Locked] = []
    for line in (folder / f"{name}.txt").read_text().splitlines():
        if pinned := _PINNED.match(line):
            found.append(Locked(pinned[1], pinned[2], pinned[3] or "", ()))
        elif hashed := _HASH.search(line):
            found[-1] = found[-1]._replace(hashes=(*found[-1].hashes, hashed[1]))
        elif line.strip() and not line.startswith("#"):
            raise ValueError(f"requirements/{name}.txt: unexpected line {line!r}")
    return found


def npm_locked(folder: str) -> list[Locked]:
    """Read all packages of a folder's package-lock.json."""
    packages = json.loads((ROOT / folder / "package-lock.json").read_text())["packages"]
    return [_npm(name, each) for name, each in packages.items() if name]  # the nameless one is ours


def _npm(path: str, entry: dict[str, Any]) -> Locked:
    kind, _, digest = entry["integrity"].partition("-")
    if kind != "sha512":
        raise ValueError(f"{path}: hashed by {kind}, not by sha512")
    marker = ", ".join(f"{what}: {' '.join(entry[what])}" for what in ("os", "cpu") if what in entry)
    name = path.rpartition("node_modules/")[2]
    return Locked(name, entry["version"], marker, (base64.b64decode(digest).hex(),), "npm", entry.get("license"))


def everything() -> dict[str, list[Locked]]:
    """The packages of every lock file, by its path."""
    return {
        **{f"requirements/{name}.txt": locked(name) for name in REQUIREMENTS},
        **{f"{folder}/package-lock.json": npm_locked(folder) for folder in NPM},
    }


def licence(name: str) -> str | None:
    """The licence that the installed package of this name states; None if it is not installed or states none."""
    try:
        stated = metadata(name)
    except PackageNotFoundError:  # such as one for another system
        return None
    if expression := stated.get("License-Expression"):
        return expression
    listed = [each.removeprefix(_OSI) for each in stated.get_all("Classifier") or [] if each.startswith(_OSI)]
    return ", ".join(listed) or (stated.get("License") or "").partition("\n")[0] or None


def is_expression(text: str) -> bool:
    """Whether a licence is an SPDX expression, not a name in words."""
    parts = text.replace("(", " ").replace(")", " ").split()
    return all(re.fullmatch(r"AND|OR|WITH|[A-Z0-9][A-Za-z0-9.+-]*", part) for part in parts) and (
        len(parts) == 1 or any(part in ("AND", "OR", "WITH") for part in parts)
    )

"""Write the bill of materials: `make sbom`, CycloneDX 1.6 in JSON, from all lock files.

It lists every package that is locked, and in which files: what a device or an extra takes, what makes the TypeScript
client and the pages, and what only tests and comparisons take. The same lock files give the same bytes: there is no
time, no serial number, no place where packages came from. With `--notice`, write NOTICE, which names the packages of
the default install and their licences.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tools.locked import DEVICE, ROOT, Locked, everything, is_expression, licence, locked

_NOTICE = """deniable
Licensed under the Apache License, Version 2.0; see LICENSE.

The package contains no code of others. Installing it without extras also installs these packages, under their own
licences; `make sbom` lists all others, with versions and hashes.

"""


def version() -> str:
    """The version of this package, without importing it."""
    scope: dict[str, str] = {}
    exec((ROOT / "src/deniable/_version.py").read_text(), scope)
    return scope["__version__"]


def component(package: Locked, places: list[str]) -> dict[str, Any]:
    """One package as CycloneDX describes it, and the lock files that name it."""
    npm = package.ecosystem == "npm"
    reference = f"pkg:{'npm' if npm else 'pypi'}/{quote(package.name)}@{package.version}"
    marked = [{"name": "deniable:marker", "value": package.marker}] if package.marker else []
    made: dict[str, Any] = {
        "type": "library",
        "bom-ref": reference,
        "name": package.name,
        "version": package.version,
        "purl": reference,
        "hashes": [{"alg": "SHA-512" if npm else "SHA-256", "content": each} for each in sorted(package.hashes)],
        "properties": [*({"name": "deniable:locked-in", "value": place} for place in places), *marked],
    }
    if stated := package.licence if npm else licence(package.name):
        made["licenses"] = [{"expression": stated} if is_expression(stated) else {"license": {"name": stated}}]
    return made


def components() -> list[dict[str, Any]]:
    """Every locked version of every package, once."""
    found: dict[tuple[str, str, str], tuple[Locked, list[str]]] = {}
    for place, packages in everything().items():
        for each in packages:
            first, places = found.setdefault((each.ecosystem, each.name, each.version), (each, []))
            places.append(place)
            if first.hashes != each.hashes:
                raise ValueError(f"{each.name} {each.version} has other hashes in {place} than in {places[0]}")
    return [component(*found[key]) for key in sorted(found)]


def document() -> str:
    """The bill of materials."""
    own = f"pkg:pypi/deniable@{version()}"
    licensed = [{"expression": "Apache-2.0"}]
    subject = {"type": "library", "bom-ref": own, "name": "deniable", "version": version(), "licenses": licensed}
    content = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": subject},
        "components": components(),
    }
    return json.dumps(content, indent=2, sort_keys=True) + "\n"


def notice() -> str:
    """NOTICE: the packages of the default install, without versions, so that it changes only when they do."""
    names = sorted({each.name for each in locked(DEVICE)})
    return _NOTICE + "".join(f"- {name}: {licence(name) or 'see its metadata'}\n" for name in names)


def main(arguments: list[str]) -> None:
    """Write the file that is asked for."""
    if arguments == ["--notice"]:
        (ROOT / "NOTICE").write_text(notice())
        return
    target = Path(*arguments) if arguments else ROOT / "build" / "sbom.cdx.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(document())


if __name__ == "__main__":
    main(sys.argv[1:])

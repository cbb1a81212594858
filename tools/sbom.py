"""Write the bill of materials: `make sbom`, CycloneDX 1.6 in JSON, from the locked requirements.

The same requirements give the same bytes: there is no time, no serial number, no place where packages came from.
With `--notice`, write NOTICE, which names the packages of the default install and their licences.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tools.locked import ALL, DEVICE, ROOT, Locked, is_expression, licence, locked

_NOTICE = """deniable
Licensed under the Apache License, Version 2.0; see LICENSE.

The package contains no code of others. Installing it without extras also installs these packages, under their own
licences; `make sbom` lists those of all extras, with versions and hashes.

"""


def version() -> str:
    """The version of this package, without importing it."""
    scope: dict[str, str] = {}
    exec((ROOT / "src/deniable/_version.py").read_text(), scope)
    return scope["__version__"]


def component(package: Locked) -> dict[str, Any]:
    """One package as CycloneDX describes it."""
    reference = f"pkg:pypi/{package.name}@{package.version}"
    made: dict[str, Any] = {
        "type": "library",
        "bom-ref": reference,
        "name": package.name,
        "version": package.version,
        "purl": reference,
        "hashes": [{"alg": "SHA-256", "content": each} for each in sorted(package.hashes)],
    }
    if stated := licence(package.name):
        made["licenses"] = [{"expression": stated} if is_expression(stated) else {"license": {"name": stated}}]
    if package.marker:
        made["properties"] = [{"name": "deniable:marker", "value": package.marker}]
    return made


def document(requirements: str = ALL) -> str:
    """The bill of materials of everything that a requirements file installs."""
    own = f"pkg:pypi/deniable@{version()}"
    licensed = [{"expression": "Apache-2.0"}]
    subject = {"type": "library", "bom-ref": own, "name": "deniable", "version": version(), "licenses": licensed}
    components = [component(each) for each in sorted(locked(requirements))]
    content = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": subject},
        "components": components,
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

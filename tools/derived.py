"""Files that follow from the code, written by `make derived` and compared by the tests."""

from __future__ import annotations

import sys
from pathlib import Path

import deniable

ROOT = Path(__file__).parents[1]


def stub() -> str:
    """The types of the public names, as a type checker reads them."""
    lines = ['"""The public names and their types; written by `make derived`."""', ""]
    lines += [f"from deniable.{home} import {name} as {name}" for name, home in by_module()]
    return "\n".join([*lines, "", "__version__: str", ""])


def by_module() -> list[tuple[str, str]]:
    """Every public name with its module, in the order of an import block."""
    return sorted(deniable.PUBLIC.items(), key=lambda item: (item[1].split("."), item[0].lower()))


FILES = {"src/deniable/__init__.pyi": stub}


def main() -> int:
    """Write every file; return 0."""
    for path, make in FILES.items():
        (ROOT / path).write_text(make())
        sys.stdout.write(f"{path}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Files and parts of files that follow from the code, written by `make derived` and compared by the tests.

A part stands between `derived: <name>` and `end`, each in a comment of the file's own kind.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import deniable
from benchmarks import audits_page
from deniable.core.glosses import METHODS
from papers.frame import record, report
from tools import collector_page, mechanism_pages

ROOT = Path(__file__).parents[1]


def stub() -> str:
    """The types of the public names, as a type checker reads them."""
    lines = ['"""The public names and their types; written by `make derived`."""', ""]
    lines += [f"from deniable.{home} import {name} as {name}" for name, home in by_module()]
    return "\n".join([*lines, "", "__version__: str", ""])


def by_module() -> list[tuple[str, str]]:
    """Every public name with its module, in the order of an import block."""
    return sorted(deniable.PUBLIC.items(), key=lambda item: (item[1].split("."), item[0].lower()))


def glosses() -> str:
    """Every estimation method with its line."""
    return "\n" + "".join(f"- `{name}`: {text}\n" for name, text in METHODS.items()) + "\n"


FILES: dict[str, Callable[[], str]] = {
    "src/deniable/__init__.pyi": stub,
    "docs/papers/report.html": lambda: report.page(record.read()),
}
PARTS: dict[str, dict[str, Callable[[], str]]] = {
    "docs/audit.md": {
        "shares": lambda: audits_page.parts(audits_page.read())["shares"],
        "rates": lambda: audits_page.parts(audits_page.read())["rates"],
    },
    "docs/collector-api.md": {
        "routes": collector_page.routes,
        "frames": collector_page.frames,
        "settings": collector_page.settings,
        "reasons": collector_page.reasons,
    },
    "docs/mechanisms/index.md": {
        "overview": mechanism_pages.overview,
        "formulas": mechanism_pages.formulas,
        "costs": mechanism_pages.costs,
        "numbers": mechanism_pages.numbers,
        "simulated": mechanism_pages.simulated,
    },
    "docs/methods.md": {"glosses": glosses},
    "docs/papers.md": {
        "papers": record.papers_table,
        "verdicts": lambda: record.overview(record.read()),
    },
    "docs/reference/python.md": {"classes": mechanism_pages.entries},
    "mkdocs.yml": {"mechanisms": mechanism_pages.navigation},
}


def text_of(path: str) -> str:
    """The file as it should be: all of it, or with its derived parts replaced."""
    if path in FILES:
        return FILES[path]()
    text = (ROOT / path).read_text()
    for name, make in PARTS[path].items():
        text = replaced(text, name, make())
    return text


def replaced(text: str, name: str, content: str) -> str:
    """The text with other content between the comments of that name, which it must have."""
    for opening, closing in ((f"<!-- derived: {name} -->\n?", "<!-- end -->"), (f" *# derived: {name}\n", " *# end")):
        marked = re.compile(f"(?P<opening>{opening}).*?(?P<closing>{closing})", re.DOTALL)
        if marked.search(text):
            return marked.sub(lambda found: found["opening"] + content + found["closing"], text)
    raise LookupError(f"there is no comment 'derived: {name}'")


def main(arguments: Sequence[str] = ()) -> int:
    """Write the files that are named, or all; return 0."""
    for path in arguments or (*FILES, *PARTS):
        (ROOT / path).write_text(text_of(path))
        sys.stdout.write(f"{path}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

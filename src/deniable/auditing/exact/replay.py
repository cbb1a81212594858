"""Code of a file, run once more in a process of its own, on all words and values in the opposite order.

What code remembers from one call to the next differs between the two runs, whatever it remembers.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

from deniable.auditing.foreign import CodeFailed, foreign
from deniable.core.errors import InvalidArgument

_WIDTH = 8  # bytes of a digest
_SOURCES = Path(__file__).parents[3]  # where this package is imported from


@dataclass(frozen=True)
class FileCode:
    """A function of a module that can be imported anew from the working directory."""

    module: str
    name: str
    function: Any

    @staticmethod
    def of(module: str, name: str) -> FileCode:
        """Import a function; raise ImportError or AttributeError where there is none, or CodeFailed."""
        sys.path.insert(0, os.getcwd())
        try:
            with foreign(module):
                found = _imported(module)
        except CodeFailed as error:
            if isinstance(error.value, (ImportError, ValueError)):
                raise error.value from None
            raise
        finally:
            sys.path.pop(0)
        return FileCode(module, name, getattr(found, name))

    @property
    def __name__(self) -> str:
        return self.name

    def __call__(self, value: int, words: tuple[int, ...]) -> Any:
        return self.function(value, words)

    def again(self, values: int, words: int, bits: int) -> list[bytes]:
        """Digests of all reports as a fresh process makes them, last ones first."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "digests"
            given = [self.module, self.name, str(values), str(words), str(bits), str(path)]
            paths = [str(_SOURCES), *filter(None, [os.environ.get("PYTHONPATH")])]
            run = subprocess.run(
                [sys.executable, "-m", __name__, *given],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
            )
            written = path.read_bytes() if path.exists() else b""
        expected = values << words * bits
        if len(written) != _WIDTH * expected:
            said = (run.stderr.strip().splitlines() or ["nothing"])[-1]
            hint = "In the process of the audit it ran: does it depend on where it runs?"
            raise InvalidArgument(self.name, "run in a process of its own", said, hint)
        return [written[start : start + _WIDTH] for start in range(0, len(written), _WIDTH)]


def digest(report: Any) -> bytes:
    """A digest of a report, by its type too."""
    return blake2b(repr(report).encode(errors="backslashreplace"), digest_size=_WIDTH).digest()


def _imported(module: str) -> Any:
    return import_module(module.removesuffix(".py").replace("/", "."))


def _digests(code: Any, values: int, words: int, bits: int) -> Iterator[bytes]:
    from deniable.auditing.exact.callables import checked_report

    tried = list(product(range(2**bits), repeat=words))
    for each in reversed(tried):
        for value in reversed(range(values)):
            yield digest(checked_report(code(value, each)))


def main(module: str, name: str, values: str, words: str, bits: str, path: str) -> None:
    """Write the digests of all reports to a file."""
    sys.path.insert(0, os.getcwd())
    code = getattr(_imported(module), name)
    made = b"".join(_digests(code, int(values), int(words), int(bits)))
    Path(path).write_bytes(made)


if __name__ == "__main__":
    main(*sys.argv[1:])

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
from functools import cached_property
from hashlib import blake2b
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

from deniable.auditing.apart import environment
from deniable.auditing.foreign import CodeFailed, foreign
from deniable.core.errors import DeniableError, InvalidArgument

_WIDTH = 8  # bytes of a digest


@dataclass(frozen=True)
class FileCode:
    """A function of a module that can be imported from the working directory, here and anew."""

    module: str
    name: str

    @cached_property
    def function(self) -> Any:
        """The function, imported; an error says where there is none."""
        sys.path.insert(0, os.getcwd())
        try:
            with foreign(self.module):
                found = getattr(_imported(self.module), self.name)
        except CodeFailed as error:
            if isinstance(error.value, (ImportError, AttributeError, ValueError)):
                raise DeniableError(f"cannot import {self.name} from {self.module}: {error.value}") from None
            raise
        finally:
            sys.path.pop(0)
        if not callable(found):
            raise DeniableError(f"{self.name} must be a function of a value and its words")
        return found

    def check(self) -> None:
        """Refuse code that cannot be imported."""
        _ = self.function

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
            with open(Path(folder) / "errors", "w+", errors="replace") as errors:  # not a pipe, which children may hold
                subprocess.run(
                    [sys.executable, "-m", __name__, *given],
                    env=environment(),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=errors,
                    check=False,
                )
                errors.seek(0)
                lines = errors.read().strip().splitlines()
            written = path.read_bytes() if path.exists() else b""
        expected = values << words * bits
        if len(written) != _WIDTH * expected:
            said = (lines or ["nothing"])[-1]
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
    os._exit(0)  # threads and exit handlers of the code are not waited for


if __name__ == "__main__":
    main(*sys.argv[1:])

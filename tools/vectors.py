"""The published vectors of a mechanism, written once: `make vectors NAME=csr`.

What they hold is listed in the mechanism's case, in its test file. A vector is what programs in other languages were
checked against, so that one is added, but never changed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import deniable as dn
from deniable.core.errors import DeniableError
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.randomness.keystream import Keystream
from tests.contract import cases
from tests.contract.vectors import Vector

FOLDER = Path(__file__).parents[1] / "vectors"
KEY = bytes(range(32))
_DESCRIPTION = "One key, one spec, some values: what every client and server must make of them."


def text(mechanism: Mechanism, values: Sequence[Any], as_strings: bool = True) -> str:
    """A vector's file: what the mechanism makes of these values under the key."""
    keystream = Keystream(KEY)
    payloads = mechanism.payloads(mechanism.domain.indices(values), keystream)
    reports = dn.Reports(payloads, mechanism.fingerprint)
    spec = mechanism.spec.to_json()
    content = {
        "description": _DESCRIPTION,
        "spec": json.loads(spec),
        "canonical": spec,
        "fingerprint": mechanism.fingerprint,
        "key": KEY.hex(),
        "first_words": [str(word) for word in keystream.stream(0).words(4).tolist()],
        "values": list(values),
        "payloads": (payloads.astype(str) if as_strings and payloads.dtype == "uint64" else payloads).tolist(),
        "encoded": [mechanism.encode(reports[place]).hex() for place in range(len(reports))],
        "summary": mechanism.summarize(payloads).to_bytes().hex(),
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def files(name: str) -> dict[str, str]:
    """The vectors of a mechanism: the text of each file by its name."""
    return {f"{name}-{part}.json": _text_of(name, vector) for part, vector in cases.of(name).vectors.items()}


def _text_of(name: str, vector: Vector) -> str:
    mechanism = dn.mechanism(name, **vector.setting)
    return text(mechanism, vector.values_for(mechanism), vector.as_strings)


def write(name: str, folder: Path = FOLDER) -> list[Path]:
    """Write the vectors that are not there yet, and return their files; refuse to change one that is."""
    found = {folder / file: content for file, content in files(name).items()}
    for path, content in found.items():
        if path.exists() and path.read_text() != content:
            raise FileExistsError(
                f"{path.name} says otherwise: a vector is never changed; publish a new one or version"
            )
    added = [path for path in found if not path.exists()]
    for path in added:
        path.write_text(found[path])
    return added


def main(arguments: Sequence[str]) -> int:
    """Write the vectors of the mechanisms that are named; return 0 unless one is refused."""
    try:
        if not arguments:
            raise LookupError("name a mechanism: make vectors NAME=csr")
        for name in arguments:
            for path in write(name):
                sys.stdout.write(f"{path.name}\n")
    except (DeniableError, FileExistsError, LookupError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

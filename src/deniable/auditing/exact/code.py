"""The code against the derivation: the ratio that it states, and the published vectors made again.

Vectors are keys, values, and the bytes that every client must make of them. They stand in the folder `vectors` of the
sources, and a wheel carries a copy beside this package.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import deniable
from deniable.core.errors import DeniableError

_PACKAGE = Path(deniable.__file__).parent
FOLDERS = (_PACKAGE / "vectors", _PACKAGE.parents[1] / "vectors")  # of a wheel, and of the sources


def stated(text: str | bytes, *ratios: Fraction | None) -> Iterator[str]:
    """What is wrong with what the code says of a spec, whose channel has one of these ratios, or is bounded by it."""
    from deniable.core.limits import OWN
    from deniable.mechanisms.registry import from_spec

    try:
        made = from_spec(text, limits=OWN)
    except DeniableError as error:
        yield f"clients refuse this spec: {error}"
        return
    if made.guarantee().ratio not in ratios:
        yield f"the code states another ratio: {float(made.guarantee().ratio):.17g}"


def run(mechanism: str) -> tuple[str, tuple[str, ...]]:
    """Run the vectors of a mechanism: what to say of them, and what is wrong."""
    folder = next((folder for folder in FOLDERS if folder.is_dir()), None)
    if folder is None:
        return f"not found in {FOLDERS[0]}, so the code itself was not run", ()
    files = sorted(folder.glob(f"{mechanism}-*.json"))
    if not files:
        return f"none are published for {mechanism}, so the code itself was not run", ()
    faults, reports = [], 0
    for path in files:
        content = json.loads(path.read_text(encoding="utf-8"))
        reports += len(content["values"])
        try:
            found = list(_compare(content))
        except DeniableError as error:
            found = [f"the code fails: {error}"]
        faults += [f"vector {path.name}: {fault}" for fault in found]
    said = f"{reports} reports of {len(files)} files made again, bit by bit" if not faults else "not reproduced"
    return said, tuple(faults)


def _compare(content: Mapping[str, Any]) -> Iterator[str]:
    """What the code makes of the key and the values of a vector, where it differs."""
    from deniable.core.reports import Reports
    from deniable.mechanisms.registry import from_spec
    from deniable.randomness.keystream import Keystream

    made = from_spec(content["canonical"], limits=None)
    if made.fingerprint != content["fingerprint"]:
        yield "another fingerprint"
    indices = made.domain.indices(content["values"])
    rows = made.payloads(np.asarray(indices), Keystream(bytes.fromhex(content["key"])))
    wanted = [[int(word) for word in row] if isinstance(row, list) else int(row) for row in content["payloads"]]
    if rows.tolist() != wanted:
        yield "other reports from the same words"
    encoded = [code.hex() for code in made.encode_many(Reports(rows, made.fingerprint))]
    if encoded != content["encoded"]:
        yield "other bytes for the same reports"

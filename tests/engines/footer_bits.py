"""Turns bits of a file's footer over, one at a time, and counts its reports: a process that may be ended by it.

    python -m tests.engines.footer_bits r.parquet

prints what came of how many bits. The column is read by loops of our own wherever it can be.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

import deniable as dn
from deniable.engines import arrow, dictionary_pages

_EVERY_BIT = 200  # bytes, where the schema and the row groups are; of the others one bit each is enough


def main(path: Path) -> None:
    """Count the file with each bit turned over."""
    dictionary_pages.pay_for = lambda _: True
    m, data, found = dn.mechanism("grr", k=256, epsilon=8.0), path.read_bytes(), Counter[str]()
    whole = arrow.summarize(m, path, threads=1)
    start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    for place in range(start, len(data)):
        for bit in range(8) if place < start + _EVERY_BIT else [place % 8]:
            spoilt = bytearray(data)
            spoilt[place] ^= 1 << bit
            path.write_bytes(spoilt)
            try:
                same = arrow.summarize(m, path, threads=1) == whole
            except dn.DeniableError:
                found["refused"] += 1
            else:
                found["counted as before" if same else f"another answer: byte {place}, bit {bit}"] += 1
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""What a file of published counts says beside its table of summaries: the spec, and how many reports are withheld.

Both are in the metadata of its schema, so that the file can be estimated by itself.
"""

from __future__ import annotations

from collections.abc import Mapping

from deniable.core.errors import MalformedSummary

_SPEC = b"deniable.spec"
_WITHHELD = b"deniable.withheld"


def written(document: str, withheld: int) -> dict[bytes, bytes]:
    """The metadata of a spec's canonical JSON, and of the number of reports that are counted and not published."""
    return {_SPEC: document.encode(), _WITHHELD: str(withheld).encode()}


def read(metadata: Mapping[bytes, bytes] | None) -> tuple[str, int]:
    """The spec's document and the number withheld."""
    found = metadata or {}
    withheld = found.get(_WITHHELD, b"")
    if _SPEC not in found or not (withheld.isdigit() and len(withheld) < 20):
        raise MalformedSummary("these are no published counts of a collector: the file names no spec")
    return found[_SPEC].decode(errors="replace"), int(withheld)

"""An exact audit of a spec, from its text alone, and of the code that runs it, by the published vectors."""

from __future__ import annotations

from deniable.auditing.exact.audit import ExactAudit
from deniable.auditing.exact.derivations.index import derive
from deniable.auditing.exact.document import Document, read
from deniable.auditing.exact.vectors import run

_NAMED = 4096  # values whose labels are kept for witnesses


def audit_text(text: str | bytes, vectors: bool = True) -> ExactAudit:
    """Audit the text of a spec; `vectors` also runs the published vectors of its mechanism."""
    document = read(text)
    channel = derive(document)
    labels = tuple(document.label(index) for index in range(min(document.values, _NAMED)))
    said, broken = run(document.mechanism) if vectors else ("", ())
    return ExactAudit(_title(document), channel, document.epsilon, labels, said, broken)


def _title(document: Document) -> str:
    values = "any strings" if document.open else f"{document.values:,} values"
    return f"{document.mechanism}, {values}, epsilon {float(document.epsilon):g}"

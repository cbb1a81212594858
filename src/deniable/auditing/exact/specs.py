"""An exact audit of a spec, from its text alone, and of the code that runs it, by the published vectors."""

from __future__ import annotations

from deniable.auditing.exact.audit import ExactAudit
from deniable.auditing.exact.code import run, stated
from deniable.auditing.exact.derivations.index import derive
from deniable.auditing.exact.document import Document, read

_NAMED = 4096  # values whose labels are kept for witnesses


def audit_text(text: str | bytes, code: bool = True) -> ExactAudit:
    """Audit the text of a spec; `code` also compares the code that runs it: its stated ratio, and its vectors."""
    document = read(text)
    channel = derive(document)
    labels = tuple(document.label(index) for index in range(min(document.values, _NAMED)))
    said, broken = run(document.mechanism) if code else ("", ())
    odd = tuple(stated(text, channel.worst.ratio, channel.bound)) if code else ()
    return ExactAudit(_title(document), channel, document.epsilon, labels, said, (*broken, *odd))


def _title(document: Document) -> str:
    values = "any strings" if document.open else f"{document.values:,} values"
    return f"{document.mechanism}, {values}, epsilon {float(document.epsilon):g}"

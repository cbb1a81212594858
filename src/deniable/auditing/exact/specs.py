"""An exact audit of a spec, from its text alone, and of the code that runs it, by the published vectors."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from deniable.auditing.exact.audit import ExactAudit
from deniable.auditing.exact.code import run, stated
from deniable.auditing.exact.derivations.index import derive
from deniable.auditing.exact.document import Document, read, specs_of

_NAMED = 4096  # values whose labels are kept for witnesses


def audit_text(text: str | bytes, code: bool = True, promised: Fraction | None = None) -> ExactAudit:
    """Audit the text of a spec; `code` also compares the code that runs it: its stated ratio, and its vectors.

    The promise is that of the spec unless another is given. Of heavy hitters it is the audit of the worst group, which
    is that of the whole: a person is in one group, whatever their value, and makes one report.
    """
    groups = specs_of(text)
    found = [_audited(group, code, promised) for group in groups]
    if groups == [text]:
        return found[0]
    worst = max(range(len(found)), key=lambda place: (found[place].exceeds, found[place].channel.worst.size))
    others = [
        f"group {place + 1}: {fault}"
        for place, each in enumerate(found)
        if place != worst
        for fault in (*each.faults, *([each.verdict] if each.exceeds else []))
        if fault not in found[worst].faults
    ]
    title = f"heavy hitters, {len(found)} groups, of which none is worse than group {worst + 1}: {found[worst].what}"
    return replace(found[worst], what=title, broken=(*found[worst].broken, *others))


def _audited(text: str | bytes, code: bool, promised: Fraction | None) -> ExactAudit:
    document = read(text)
    channel = derive(document)
    labels = tuple(document.label(index) for index in range(min(document.values, _NAMED)))
    said, broken = run(document.mechanism) if code else ("", ())
    odd = tuple(stated(text, channel.worst.ratio, channel.bound)) if code else ()
    claim = document.epsilon if promised is None else promised
    return ExactAudit(_title(document), channel, claim, labels, said, (*broken, *odd))


def _title(document: Document) -> str:
    values = "any strings" if document.open else f"{document.values:,} values"
    return f"{document.mechanism}, {values}, epsilon {float(document.epsilon):g}"

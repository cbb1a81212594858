"""Which derivation belongs to which mechanism."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from deniable.auditing.exact.channel import Channel
from deniable.auditing.exact.derivations import choices, coins, levels, replacement, subsets, tables
from deniable.auditing.exact.document import Document
from deniable.core.errors import DeniableError, SpecError

DERIVATIONS: Mapping[tuple[str, int], Callable[[Document], Channel]] = {
    ("blh", 1): replacement.blh,
    ("clh", 1): replacement.clh,
    ("cms", 1): coins.cms,
    ("csr", 1): choices.csr,
    ("design", 1): choices.design,
    ("flh", 1): replacement.flh,
    ("grr", 1): replacement.grr,
    ("hcms", 1): choices.hcms,
    ("hpgr", 1): choices.hpgr,
    ("hr", 1): choices.hr,
    ("matrix", 1): tables.matrix,
    ("mss", 1): subsets.mss,
    ("olh", 1): replacement.olh,
    ("orappor", 1): coins.orappor,
    ("orr", 1): replacement.orr,
    ("oue", 1): coins.unary,
    ("pgr", 1): choices.pgr,
    ("rhr", 1): replacement.rhr,
    ("she", 1): levels.she,
    ("ss", 1): subsets.ss,
    ("sue", 1): coins.unary,
    ("the", 1): coins.unary,
}


def derive(document: Document) -> Channel:
    """Derive the channel of a spec from its text."""
    found = DERIVATIONS.get((document.mechanism, document.version))
    if found is None:
        names = ", ".join(sorted({name for name, _ in DERIVATIONS}))
        raise SpecError(
            f"no derivation is known for {document.mechanism} version {document.version}; known: {names}. "
            "Audit its channel as a matrix, its code with its words, or its reports by trials."
        )
    try:
        return found(document)
    except DeniableError:
        raise
    except (ArithmeticError, AssertionError, LookupError, StopIteration, TypeError, ValueError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise SpecError(f"the parameters of {document.mechanism} must fit together ({reason})") from error

"""`deniable.audit`: what a spec, a mechanism, a matrix or anybody's code really spends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from deniable.auditing.apart import apart
from deniable.auditing.empirical.adapters import Adapter, load
from deniable.auditing.empirical.audit import EmpiricalAudit
from deniable.auditing.exact import callables, matrices
from deniable.auditing.exact.arithmetic import MOST_EPSILON
from deniable.auditing.exact.audit import ExactAudit
from deniable.auditing.exact.document import specs_of
from deniable.auditing.exact.replay import FileCode
from deniable.auditing.exact.specs import audit_text
from deniable.core.display import brief
from deniable.core.errors import DeniableError, InvalidArgument, kind_of
from deniable.core.spec import Spec
from deniable.core.validate import positive, strictly_between, whole
from deniable.mechanisms.base.mechanism import Mechanism

ALPHA = 1e-9
BLACK_BOX_TRIALS = 4_000_000
KEPT, EXCEEDED, TELLS_LESS = 0, 1, 3  # exit codes; 2 is for what cannot be read


@dataclass(frozen=True)
class Audit:
    """What was found, exactly, by trials, or both."""

    exact: ExactAudit | None = None
    empirical: EmpiricalAudit | None = None
    skipped: str = ""  # why trials that were asked for were not made

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong; trials alone can never show that nothing is."""
        return self.exit_code == KEPT

    @property
    def exit_code(self) -> int:
        """0: nothing is wrong; 1: a promise is broken or code is faulty; 3: reports tell less than they should."""
        if self.exact is not None and (self.exact.ratio is None or not self.exact.passed):
            return EXCEEDED
        if self.empirical is not None and (self.empirical.exceeds or self.empirical.faults):
            return EXCEEDED
        return TELLS_LESS if self.empirical is not None and self.empirical.below else KEPT

    @property
    def _parts(self) -> list[ExactAudit | EmpiricalAudit]:
        return [part for part in (self.exact, self.empirical) if part is not None]

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data."""
        exact, empirical = (None if part is None else part.to_dict() for part in (self.exact, self.empirical))
        return {"passed": self.passed, "exact": exact, "empirical": empirical, "skipped": self.skipped}

    def __str__(self) -> str:
        return "\n\n".join([*map(str, self._parts), *([f"no trials: {self.skipped}"] if self.skipped else [])])

    def __repr__(self) -> str:
        return brief(self, *(part.verdict for part in self._parts))

    def _repr_html_(self) -> str:
        return "".join(part._repr_html_() for part in self._parts)


def audit(
    target: Any,
    *,
    promised: float | None = None,
    trials: int | None = None,
    alpha: float = ALPHA,
    values: int | None = None,
    words: int | None = None,
    bits: int | None = None,
    by_id: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Audit:
    """Find what epsilon something really spends, exactly where its text or its words are known.

    The target is a spec (`Spec`, its JSON, a dict, or the path of a file), a mechanism, a matrix of probabilities (rows
    are values; or the path of a CSV or Parquet file), a function of a value and its random words (with `values`,
    `words` and `bits`), or an `Adapter` for a black box (or the path of its Python file, which runs in a process of its
    own, and may end that).

    `trials` also audits the reports that a spec's code makes, which gives a lower bound that is wrong with probability
    at most `alpha`; with `by_id`, the reports of a mechanism with public coins that are made for ids.

    >>> import deniable as dn
    >>> found = audit(dn.mechanism("grr", labels=["yes", "no"], epsilon=1.0))
    >>> found.passed, found.exact.ratio == dn.mechanism("grr", k=2, epsilon=1.0).guarantee().ratio
    (True, True)
    """
    promised = None if promised is None else _claimed(promised)
    given = {"promised": promised, "trials": trials, "alpha": strictly_between(0, 0.5, alpha=alpha)}
    given |= {"values": values, "words": words, "bits": bits, "by_id": by_id}
    of_file = isinstance(target, FileCode) or (isinstance(target, Path) and target.suffix.lower() == ".py")
    found: Audit = apart(_audited, target, given, progress=progress) if of_file else _audited(target, given, progress)
    return found


def _audited(target: Any, given: Mapping[str, Any], progress: Callable[[int], None] | None) -> Audit:
    promised, trials, alpha, values, words, bits, by_id = given.values()
    claim = None if promised is None else Fraction(promised)
    if isinstance(target, Path):
        target = _read(target)
    if isinstance(target, FileCode):
        target.check()
    _check_options(target, by_id and trials is None, values=values, words=words, bits=bits)
    if isinstance(target, Adapter) and not by_id:
        return _black_box(target, trials, alpha, promised, progress)
    if isinstance(target, Mechanism | Spec | str | bytes | Mapping):
        return _spec(target, claim, trials, alpha, by_id, progress)
    if by_id:
        raise InvalidArgument("by_id", "be left out", by_id, "It is for a spec with public coins, such as clh.")
    if trials is not None:
        hint = "An exact audit needs none; an Adapter has reports to draw."
        raise InvalidArgument("trials", "be given for a spec or an Adapter", trials, hint)
    if callable(target):
        if None in (values, words, bits):
            hint = "Say how many values there are, how many words a report takes, and how many bits a word has."
            raise InvalidArgument("values, words and bits", "be given for a function", (values, words, bits), hint)
        sizes = [whole(1, **{name: given}) for name, given in (("values", values), ("words", words), ("bits", bits))]
        channel = callables.channel_of(target, *sizes)
        name = getattr(target, "__name__", type(target).__name__)
        return Audit(ExactAudit(f"{name}, {values} values", channel, claim))
    matrix = target if isinstance(target, matrices.Matrix) else matrices.checked(_rows(target))
    title = f"a matrix of {len(matrix.rows)} values and {len(matrix.rows[0])} reports"
    return Audit(ExactAudit(title, matrices.channel_of(matrix), claim, matrix.labels))


def _claimed(promised: float) -> float:
    claim = positive(promised=promised)
    if claim >= MOST_EPSILON:
        raise InvalidArgument("promised", f"be below {MOST_EPSILON}", promised, "So large an epsilon promises nothing.")
    return claim


def _check_options(target: Any, untried: bool, **sizes: int | None) -> None:
    """Refuse options that the target has no use for."""
    spec = isinstance(target, Mechanism | Spec | str | bytes | Mapping)
    if untried:
        raise InvalidArgument("by_id", "be given with trials", True, "Say how many reports are to be made.")
    given = {name: size for name, size in sizes.items() if size is not None}
    if given and (spec or isinstance(target, Adapter) or not callable(target)):
        name = next(iter(given))
        raise InvalidArgument(name, "be left out", given[name], "It is for a function of a value and its words.")


def _read(path: Path) -> Any:
    kinds: Mapping[str, Callable[[Path], Any]] = {
        ".json": Path.read_bytes,
        ".csv": matrices.from_csv,
        ".parquet": matrices.from_parquet,
        ".py": load,
    }
    reader = kinds.get(path.suffix.lower())
    if reader is None:
        raise InvalidArgument("the file", f"end in {', '.join(kinds)}", path.name)
    return reader(path)


def _rows(target: Any) -> list[list[Any]]:
    try:
        rows = target.tolist() if hasattr(target, "tolist") else [list(row) for row in target]
    except TypeError:
        what = "be a spec, a mechanism, a matrix, a function or an Adapter"
        raise InvalidArgument("target", what, kind_of(target)) from None
    return rows if all(isinstance(row, list) for row in rows) else [rows]


def _spec(
    target: Any,
    claim: Fraction | None,
    trials: int | None,
    alpha: float,
    by_id: bool,
    progress: Callable[[int], None] | None,
) -> Audit:
    from deniable.core.limits import OWN
    from deniable.mechanisms.registry import from_spec

    text = _text(target)
    exact = audit_text(text, promised=claim)
    if trials is None:
        return Audit(exact)
    if specs_of(text) != [text]:
        return Audit(exact, skipped="they are made under one spec: give that of one group, of the list 'levels'")
    from deniable.auditing.empirical.mechanisms import audit_mechanism
    from deniable.auditing.empirical.sources import by_ids

    try:
        made = target if isinstance(target, Mechanism) else from_spec(text, limits=OWN)
    except DeniableError:  # as the exact audit says
        return Audit(exact, skipped="clients refuse this spec, so that there are no reports")
    promise = None if claim is None else float(claim)
    source = by_ids(made) if by_id else None
    return Audit(exact, audit_mechanism(made, trials, alpha, promised=promise, source=source, progress=progress))


def _text(target: Any) -> str | bytes:
    if isinstance(target, Mechanism):
        target = target.spec
    if isinstance(target, Spec):
        return target.to_json()
    if isinstance(target, Mapping):
        import json

        return json.dumps(dict(target))
    found: str | bytes = target
    if isinstance(found, str) and found.strip()[:1] != "{":
        raise InvalidArgument("a spec", "be JSON", found, "Is it a file? Then give its Path.")
    return found


def _black_box(
    adapter: Adapter, trials: int | None, alpha: float, promised: float | None, progress: Callable[[int], None] | None
) -> Audit:
    from deniable.auditing.empirical.search import audit_black_box

    number = BLACK_BOX_TRIALS if trials is None else trials
    return Audit(empirical=audit_black_box(adapter, number, alpha, promised=promised, progress=progress))

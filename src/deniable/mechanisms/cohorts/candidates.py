"""Decoding an open domain: frequencies of candidate strings, and of all strings that are not among them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.domain.open import Open
from deniable.core.errors import InvalidArgument, shown
from deniable.core.estimate import Estimate
from deniable.core.reports import PRIVATIZE_FIRST, Reports
from deniable.core.summary import Summary
from deniable.core.validate import choice
from deniable.estimation.channel import TARGETS, for_target
from deniable.estimation.cohorts.decoding import CohortCells, Decoded
from deniable.estimation.cohorts.design import MOST_LOAD
from deniable.estimation.tails import PoissonTails, Steps
from deniable.mechanisms.base.server import assembled
from deniable.mechanisms.cohorts.sizes import DesignWarning

if TYPE_CHECKING:
    from deniable.mechanisms.cohorts.base import CohortMechanism

_NOTE = (
    "Per string: the score test inverted, with the noise measured in the cells themselves, which includes unlisted "
    "strings; at the level over the choice of the hash functions, up to a normal approximation."
)
_SELECTED = " Estimates of selected strings are more often above the truth than below it."

_BY_LEAST_SQUARES: dict[str, Callable[[CohortCells], Decoded]] = {
    "projected": CohortCells.projected,
    "nonnegative": CohortCells.nonnegative,
    "least-squares": CohortCells.least_squares,
}
_BY_CANDIDATE: dict[str, Callable[[CohortCells], Decoded]] = {
    "selected": CohortCells.selected,
    "per-candidate": CohortCells.per_candidate,
}
UNBIASED = ("least-squares", "per-candidate")


def open_methods(mechanism: CohortMechanism) -> tuple[str, ...]:
    """The names of the methods that decode candidates."""
    likely = ("mle",) if mechanism.has_likelihood else ()
    return (*_BY_LEAST_SQUARES, *_BY_CANDIDATE, *likely)


def decode(
    mechanism: CohortMechanism,
    summary: Summary | Reports,
    candidates: Iterable[Any],
    method: str | None,
    target: str,
    *,
    complete: bool,
    progress: Callable[[str], None] | None = None,
) -> Estimate:
    """Estimate the frequencies of the candidates and, unless they are complete, of all other strings together.

    The default is projected least squares if there are enough equations to tell the candidates apart; else the
    candidates found to be present are fitted together.
    """
    choice(TARGETS, target=target)
    if method is not None:
        choice(open_methods(mechanism), method=method)
    summary = mechanism.summarize(summary) if isinstance(summary, Reports) else summary
    if not isinstance(summary, Summary):
        raise InvalidArgument("summary", "be a Summary, or Reports", summary, PRIVATIZE_FIRST)
    mechanism.check_summary(summary)
    assert isinstance(mechanism.domain, Open)
    domain = mechanism.domain.candidates(candidates)
    if complete:
        if domain.listed < 2:
            hint = "The frequency of a single string is then known to be 1."
            raise InvalidArgument("candidates", "be two strings or more if complete", domain.all_labels()[:-1], hint)
        domain = replace(domain, other=None)
    labels = domain.all_labels() if complete else domain.all_labels()[:-1]
    announce = progress or (lambda _: None)
    announce(f"hashing {len(labels):,} candidates")
    cells = mechanism.cohort_cells(
        summary, mechanism.functions.design(mechanism.domain.indices(labels), complete=complete)
    )
    _warn_of_twins(cells, labels)
    method = method if method is not None else ("projected" if cells.design.load <= MOST_LOAD else "selected")
    announce(f"fitting {len(labels):,} candidates ({method})")
    found = _decoded(mechanism, summary, cells, method)
    v1 = mechanism.own_noise(found.noise)
    if not complete:
        v1[-1] = 0.0  # many strings together: no single user is in all their cells
    noise = for_target(found.noise, v1, target)
    return assembled(
        mechanism,
        summary,
        domain=domain,
        frequencies=found.frequencies,
        unbiased=found.first,
        noise=noise,
        tails=PoissonTails(found.first, summary.n, noise, _steps(mechanism, found, cells)),
        method=method,
        target=target,
        is_unbiased=method in UNBIASED,
        note=_NOTE + ("" if method != "selected" else _SELECTED),
        details={"load": cells.design.load, **found.details},
    )


def _steps(mechanism: CohortMechanism, found: Decoded, cells: CohortCells) -> Steps:
    """The steps of reports, or those that give the skewness measured in the cells, if they are larger."""
    up, down = mechanism.steps(found.noise / mechanism.unit())
    measured = found.skewness * np.sqrt(cells.n * found.noise)
    return Steps(np.maximum(up, measured), down)


def _decoded(mechanism: CohortMechanism, summary: Summary, cells: CohortCells, method: str) -> Decoded:
    design = cells.design
    if method in _BY_CANDIDATE:
        return _BY_CANDIDATE[method](cells)
    if not design.identifiable:
        most = design.cohorts * (design.buckets - 1) + design.complete
        hint = (
            f"Least squares cannot tell {design.values} candidates apart in {design.cohorts} cohorts of "
            f"{design.buckets} buckets: at most {most}, and well below half of that for small errors."
        )
        raise InvalidArgument("method", f"be one of {', '.join(_BY_CANDIDATE)}", method, hint)
    if method in _BY_LEAST_SQUARES:
        return _BY_LEAST_SQUARES[method](cells)
    return _most_likely(mechanism, summary, cells)


def _most_likely(mechanism: Any, summary: Summary, cells: CohortCells) -> Decoded:
    from deniable.estimation.cohorts.likelihood import work
    from deniable.estimation.methods.iterative import iterate

    first = cells.least_squares()
    start = cells.projected().frequencies
    complete = cells.design.complete
    found = iterate(summary.counts, mechanism.channel_of(cells.design, unlisted=not complete), start=start)
    return replace(first, frequencies=found.frequencies, details=work(found))


def _warn_of_twins(cells: CohortCells, labels: list[Any]) -> None:
    """Warn of candidates that no report can tell apart."""
    twins = cells.design.repeated()
    if twins:
        a, b = (labels[place] for place in twins[0])
        message = (
            f"{len(twins)} pairs of candidates share all their buckets and cannot be told apart, such as {shown(a)} "
            f"and {shown(b)}. Drop one of each pair, or make a spec with more cohorts."
        )
        warnings.warn(message, DesignWarning, stacklevel=4)

"""Mechanisms side by side for one question: error, report size and attack rate; simulated and timed if asked."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from deniable.core.domain import MAX_SIZE, Domain
from deniable.core.domain.open import Open
from deniable.core.errors import InvalidArgument
from deniable.core.validate import whole
from deniable.mechanisms.base.definition import checked_epsilon
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.forecasts.built import NO_FORMULA, forecast, of_mechanism
from deniable.mechanisms.forecasts.forecast import Forecast
from deniable.mechanisms.loss import optimum
from deniable.mechanisms.registry import full_name, list_mechanisms, mechanism
from deniable.planning.costs import Comparison, Costs
from deniable.planning.timing import client_ns, server_ms
from deniable.planning.verification import zipf_counts
from deniable.simulation import simulate

Entry = str | Mechanism | type[Mechanism]


def compare(
    k: int | None = None,
    epsilon: float | None = None,
    n: int = 10_000,
    *,
    labels: Iterable[Any] | None = None,
    domain: Domain | None = None,
    names: Iterable[Entry] | None = None,
    simulated: bool = False,
    timed: bool = False,
    repeats: int = 3,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
) -> Comparison:
    """Compare mechanisms for k values, labels or a domain, epsilon and n users: error by formula, bits, attack rate.

    `simulated` measures the error in `repeats` simulations of n users with Zipf data; `timed` measures client and
    server on this machine. `names` may hold names, mechanisms, and classes of your own. Mechanisms that do not support
    the setting are left out: `left_out` has the reason for each.

    >>> import deniable as dn
    >>> [row.mechanism for row in dn.compare(50, 1.0, names=["grr", "csr"])]
    ['csr', 'grr']
    """
    values, epsilon = _closed(k, labels, domain), checked_epsilon(epsilon)
    whole(1, n=n)
    whole(1, repeats=repeats)
    rows, left_out = [], {}
    for entry in _entries(names):
        name = entry if isinstance(entry, str) else entry.name
        if progress is not None:
            progress(name)
        try:
            rows.append(_costs(entry, values, epsilon, n, repeats if simulated else 0, seed, timed=timed))
        except InvalidArgument as error:
            left_out[name] = NO_FORMULA.get(name, str(error)) if isinstance(entry, str) else str(error)
    ranked = tuple(sorted(rows, key=lambda row: row.loss))
    return Comparison(values.k, epsilon, n, ranked, left_out)


def _closed(k: int | None, labels: Iterable[Any] | None, domain: Domain | None) -> Domain:
    given = {"k": k, "labels": labels, "domain": domain}
    chosen = [name for name, value in given.items() if value is not None]
    if len(chosen) != 1:
        raise InvalidArgument("domain", "be given exactly once", chosen, "Give k, labels or domain.")
    if k is not None:
        return Domain.of(whole(2, MAX_SIZE, k=k))
    found = Domain.of(domain) if domain is not None else Domain.categories(labels or ())
    if isinstance(found, Open):
        raise InvalidArgument("domain", "be closed here", found.kind, "Use plan or tune for candidates of an open one.")
    return found


def _entries(names: Iterable[Entry] | None) -> list[Entry]:
    """The mechanisms to compare: by default all that a number of values and an epsilon make."""
    if isinstance(names, str) or not isinstance(names, (Iterable, type(None))):
        raise InvalidArgument("names", "be a list of mechanisms", names)
    if names is None:
        return [name for name in list_mechanisms() if name not in NO_FORMULA]
    return [_entry(each) for each in names]


def _entry(each: object) -> Entry:
    if isinstance(each, Mechanism) or (isinstance(each, type) and issubclass(each, Mechanism)):
        return each
    return full_name(each)


def _costs(entry: Entry, domain: Domain, epsilon: float, n: int, runs: int, seed: int, *, timed: bool) -> Costs:
    """The costs of one mechanism: by its formula if it is registered, else by what it states itself."""
    made = None if isinstance(entry, str) else _made(entry, domain, epsilon)
    found: Forecast = of_mechanism(made) if made is not None else forecast(str(entry), domain.k, epsilon)
    measured: dict[str, float] = {}
    if runs or timed:
        made = mechanism(found.name, domain=domain, epsilon=epsilon) if made is None else made
        measured = _measured(made, n, runs, seed, timed=timed)
    least = optimum(math.exp(found.spent)) / n
    loss, spread = measured.pop("simulated", math.nan), measured.pop("spread", math.nan)
    return Costs(
        found.name,
        error=math.sqrt(found.variance(0.0, n)),
        loss=found.variance(0.0, n) / least,
        simulated_loss=loss / least,
        simulated_loss_error=spread / least,
        bits=found.bits,
        client_ns=measured.get("client", math.nan),
        server_ms=measured.get("server", math.nan),
        attack=found.attack,
        spent=found.spent,
    )


def _made(entry: Mechanism | type[Mechanism], domain: Domain, epsilon: float) -> Mechanism:
    """A mechanism of the caller's: as it is, if it is for this question, or made of its class."""
    made = entry if isinstance(entry, Mechanism) else entry.choose(domain, epsilon)
    if made.k != domain.k or made.epsilon != epsilon:
        rule = f"be made for k={domain.k} and epsilon={epsilon:g}"
        raise InvalidArgument("names", rule, f"{made.name} for k={made.k}, epsilon={made.epsilon:g}")
    return made


def _measured(made: Mechanism, n: int, runs: int, seed: int, *, timed: bool) -> dict[str, float]:
    """Mean squared errors of simulations, and times; whatever was asked for."""
    true = zipf_counts(made.k, n)
    found: dict[str, float] = {}
    if runs:
        summaries = (simulate(made, true, seed=seed + run) for run in range(runs))
        errors = [float(((made.unbiased(summary) - true / n) ** 2).mean()) for summary in summaries]
        found["simulated"] = float(np.mean(errors))
        found["spread"] = float(np.std(errors, ddof=1) / math.sqrt(runs)) if runs > 1 else math.nan
    if timed:
        found["client"] = client_ns(made, true)
        found["server"] = server_ms(made, simulate(made, true, seed=seed))
    return found

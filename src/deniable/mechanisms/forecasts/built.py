"""The forecast of any mechanism by name, or of one that has been made."""

from __future__ import annotations

from collections.abc import Callable

from deniable.core.domain import Domain
from deniable.core.domain.open import Open
from deniable.core.errors import InvalidArgument
from deniable.estimation.operators.residue_noise import EVERY
from deniable.mechanisms.base.definition import float_bound
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.cohorts.base import CohortMechanism
from deniable.mechanisms.forecasts.forecast import Forecast
from deniable.mechanisms.forecasts.formulas import FORMULAS, guessed, symbol_bits
from deniable.mechanisms.forecasts.hashed import KINDS, closed
from deniable.mechanisms.hashing.public_coins import PublicCoin

_FEW = 1024  # values up to which the attack rate of a mechanism with many cohorts is computed exactly


def forecast(name: str, k: int, epsilon: float) -> Forecast:
    """The forecast of a registered mechanism for k listed values; raises InvalidArgument where it refuses them."""
    if name in FORMULAS:
        return FORMULAS[name](k, epsilon)
    if name in KINDS:
        return closed(name, k, epsilon)
    if name == "mss":
        return _modular(k, epsilon)
    if name in NO_FORMULA:
        raise InvalidArgument("name", "have a formula for its error", name, NO_FORMULA[name])
    from deniable.mechanisms.registry import mechanism

    return of_mechanism(mechanism(name, k=k, epsilon=epsilon))


NO_FORMULA = {
    "design": "Its error depends on the blocks that you give it: make one and read its variance.",
    "matrix": "Its error depends on the matrix that you give it: make one and read its variance.",
}


def _modular(k: int, epsilon: float) -> Forecast:
    """Modular subset selection: exact for few values, else by the error that its moduli are chosen by."""
    from deniable.mechanisms.layouts.residues import report_bits
    from deniable.mechanisms.subsets.modular_subset import ModularSubsetSelection
    from deniable.mechanisms.subsets.moduli import best_sizes, error, search
    from deniable.randomness.bounds import exponential_below

    if k <= EVERY:
        return of_mechanism(ModularSubsetSelection(Domain.of(k), epsilon))
    exact, bound = exponential_below(epsilon), float_bound(epsilon)
    moduli = search(k, exact)
    assert moduli is not None  # without a bound on the bits some are always found
    sizes = best_sizes(moduli, exact)
    # the search weighs mean squares, 1/k more than the variance for a user's own value on average
    noise = (error(k, moduli, exact) - 2 / k, 1.0, 0.0)
    attack = sum(guessed(bound, k, w / m) for m, w in zip(moduli, sizes, strict=True)) / len(moduli)
    return Forecast("mss", k, epsilon, epsilon, noise, report_bits(moduli, sizes), attack, average=True)


def of_mechanism(made: Mechanism) -> Forecast:
    """The forecast of a mechanism that has been made, from what it states."""
    if isinstance(made.domain, Open):
        raise InvalidArgument("domain", "be closed here", made.domain.kind, "Errors depend on the candidates.")
    by_id = isinstance(made, PublicCoin)
    few = made.k <= _FEW or not isinstance(made, CohortMechanism)
    spent = min(made.guarantee().epsilon, made.epsilon)
    return Forecast(
        made.name,
        made.k,
        made.epsilon,
        spent,
        made.noise("users"),
        made.report_bits,
        attack=float(made.reconstruction_rate()) if few else float_bound(spent) / (float_bound(spent) + made.k - 1),
        by_id=by_id,
        id_bits=symbol_bits(made.symbols) - made.report_bits if isinstance(made, PublicCoin) else 0,
        average=isinstance(made, CohortMechanism) or made.name == "mss",
    )


def attempts(names: list[str], attempt: Callable[[str], Forecast]) -> tuple[list[Forecast], dict[str, str]]:
    """The forecasts of these mechanisms, and the reason for each that refuses the question."""
    found, left_out = [], {}
    for name in names:
        try:
            found.append(attempt(name))
        except InvalidArgument as error:
            left_out[name] = str(error)
    return found, left_out

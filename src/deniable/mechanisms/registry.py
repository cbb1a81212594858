"""All mechanisms by name and version: as catalogue.py lists them, and from outside (outside.py).

A name and version never change meaning (see spec.py), so a spec written today makes the same mechanism
forever. A mechanism's file is loaded when it is first used: a device needs only one.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deniable.core.domain import Domain, Label
from deniable.core.domain.open import Open
from deniable.core.errors import InvalidArgument, SpecError, UnsupportedVersion, cut, listed, shown
from deniable.core.limits import DEFAULT, Cost, Limits, checked
from deniable.core.spec import Spec
from deniable.core.suggest import did_you_mean
from deniable.core.weak import warn_if_weak
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.catalogue import ALL, CLASSES
from deniable.mechanisms.catalogue import AUTO as AUTO
from deniable.mechanisms.cohorts.sizes import DesignWarning
from deniable.mechanisms.outside import outside_classes, outside_names

if TYPE_CHECKING:
    from deniable.mechanisms.forecasts.forecast import Forecast

_OWN = sorted({name for name, *_ in ALL})


def list_mechanisms() -> list[str]:
    """The names of all mechanisms: the package's own, registered ones, and those that installed packages declare."""
    return sorted({*_OWN, *outside_names()})


def registered(name: str | None = None) -> tuple[type[Mechanism], ...]:
    """The classes of one name, or of all names, in every version."""
    return (*(load_class(cls) for own, _, _, cls in ALL if name in (None, own)), *outside_classes(name))


def open_mechanisms() -> list[str]:
    """The names of the mechanisms whose values may be any strings."""
    return sorted({cls.name for cls in registered() if cls.open_domains})


def load_class(name: str) -> type[Mechanism]:
    """Load a mechanism's class by the name of the class."""
    found: type[Mechanism] = getattr(import_module(f"deniable.mechanisms.{CLASSES[name]}"), name)
    return found


def parameters_of(name: str) -> list[str]:
    """The parameters of a mechanism besides its domain and epsilon, and the options that guide how it chooses them."""
    if name.strip().lower() == AUTO:
        from deniable.mechanisms.forecasts.choice import OPTIONS

        return list(OPTIONS)
    return _parameters(_newest(name))


def _parameters(cls: type[Mechanism]) -> list[str]:
    options = [each.name for each in signature(cls.choose).parameters.values() if each.kind is each.KEYWORD_ONLY]
    return list(signature(cls).parameters)[2:] + options


def full_name(name: object) -> str:
    """Return the name of a mechanism as it is registered, whatever its case; raise InvalidArgument if there is none."""
    if isinstance(name, str) and (found := name.strip().lower()) in {*_OWN, *outside_names(installed=False)}:
        return found
    known = list_mechanisms()  # looks through the installed packages too
    if isinstance(name, str) and found in known:
        return found
    hint = did_you_mean(name, [*known, AUTO]) or f'"{AUTO}" chooses one.'
    raise InvalidArgument("mechanism", "be one of " + ", ".join(known), name, hint)


def _newest(name: str) -> type[Mechanism]:
    return max(registered(full_name(name)), key=lambda cls: cls.version)


def mechanism(
    name: str = AUTO,
    *,
    epsilon: float,
    k: int | None = None,
    labels: Iterable[Label] | None = None,
    domain: Domain | None = None,
    **parameters: Any,
) -> Mechanism:
    """Make a mechanism by name, for k values 0..k-1, for labels, or for a domain.

    The name "auto", the default, takes the one with the least error for these values and this epsilon, then the
    fewest bits, then the simplest; `ids=True` says that the server knows the ids of reports, which some need, and
    `max_bits` limits the size of reports. `dn.plan` shows how the others compare.

    >>> mechanism("grr", labels=["yes", "no"], epsilon=1.0).k
    2
    >>> mechanism(k=22_000, epsilon=2.0).name
    'pgr'
    """
    chosen = domain_of(k, labels, domain)
    if isinstance(name, str) and name.strip().lower() == AUTO:
        return _automatic(chosen, epsilon, parameters)
    made = make(_newest(name), chosen, epsilon, **parameters)
    if made.advice():
        warnings.warn(made.advice(), DesignWarning, stacklevel=2)
    warn_if_weak(made.epsilon, partial(_attack, made))
    return made


def domain_of(k: int | None, labels: Iterable[Label] | None, domain: Domain | None) -> Domain:
    """The domain that is given by the one of the three that is not None; raise InvalidArgument unless one is."""
    given = {"k": k, "labels": labels, "domain": domain}
    chosen = [argument for argument, value in given.items() if value is not None]
    if len(chosen) != 1:
        raise InvalidArgument("domain", "be given exactly once", chosen, "Give k, labels or domain.")
    values: Any = given[chosen[0]] if labels is None else Domain.categories(labels)
    return Domain.of(values)


def make(cls: type[Mechanism], domain: Domain, epsilon: float, **parameters: Any) -> Mechanism:
    """Make a mechanism of a class, registered or not; raise InvalidArgument for parameters that it does not have."""
    if isinstance(domain, Open) and not cls.open_domains:
        hint = f"Open strings are for {', '.join(open_mechanisms())}."
        raise InvalidArgument("domain", f"be closed for {cls.name}", domain.kind, hint)
    known = _parameters(cls)
    if unknown := sorted(set(parameters) - set(known)):
        hint = f"It takes {', '.join(known) or 'no parameters'}."
        raise InvalidArgument("parameters", f"be known to {cls.name}", unknown, hint)
    return cls.choose(domain, epsilon, **parameters)


def _attack(made: Mechanism) -> str:
    """How often a guess from one report is right."""
    if isinstance(made.domain, Open):  # it depends on how many strings are possible
        return f"a report can make one string {float(made.ratio()):.3g} times as likely as another"
    rate = float(made.reconstruction_rate())
    return f"a guess of the value from one report is right in up to {rate:.2%} of cases, without it in {1 / made.k:.2%}"


def _automatic(domain: Domain, epsilon: float, parameters: dict[str, Any]) -> Mechanism:
    """Make the mechanism that the forecasts put first."""
    from deniable.mechanisms.forecasts.choice import best_for

    known = parameters_of(AUTO)
    if unknown := sorted(set(parameters) - set(known)):
        hint = f"It takes {', '.join(known)}; name a mechanism to give its own parameters."
        raise InvalidArgument("parameters", f"be known to {AUTO}", unknown, hint)
    return make_first(best_for(domain, epsilon, **parameters), domain)[0]


def make_first(order: Sequence[Forecast], domain: Domain) -> tuple[Mechanism, Forecast]:
    """Make the first of these mechanisms that takes the domain, and return it with its forecast."""
    refused: InvalidArgument | None = None
    for each in order:
        try:
            return mechanism(each.name, domain=domain, epsilon=each.epsilon, **each.options), each
        except InvalidArgument as error:  # for a reason that no formula states
            refused = refused or error
    raise refused or InvalidArgument("domain", "suit a mechanism", domain.kind)


def from_spec(
    spec: Spec | str | bytes | Path | Mapping[str, Any],
    known: Iterable[type[Mechanism]] | None = None,
    *,
    limits: Limits | None = DEFAULT,
) -> Mechanism:
    """Make the mechanism a spec describes; its thresholds are derived again and must agree.

    The spec is given as JSON, as the `Path` of a file, as a `Spec`, or as the dict that JSON is read to. `known` are
    the classes to choose from, by default all registered ones. A spec that would cost more than `limits` is refused
    before anything is built; None stands for no limits, for specs of your own.
    """
    limits = checked(limits)
    if not isinstance(spec, Spec):
        spec = _read(spec, limits)
    chosen = _described(spec, known)
    if limits is not None:
        limits.check(chosen.cost(spec.domain, spec.parameters))
    try:
        made = chosen(spec.domain, **spec.parameters)  # type: ignore[arg-type]
    except TypeError as error:
        raise SpecError(f"spec has parameters of the wrong kind: {cut(str(error), 200)}") from None
    if made.spec != spec:
        raise SpecError("the spec's thresholds must follow from its domain, mechanism and parameters")
    return made


def cost_of(spec: Spec) -> Cost:
    """What the mechanism that a spec describes costs, by formula: nothing is built."""
    return _described(spec).cost(spec.domain, spec.parameters)


def _described(spec: Spec, known: Iterable[type[Mechanism]] | None = None) -> type[Mechanism]:
    """The class that a spec names; raise SpecError unless it has its parameters."""
    classes = registered(spec.mechanism) if known is None else tuple(known)
    versions = {cls.version: cls for cls in classes if cls.name == spec.mechanism}
    if not versions:
        names = ", ".join(list_mechanisms() if known is None else sorted({cls.name for cls in classes}))
        raise SpecError(f"spec names an unknown mechanism, {shown(spec.mechanism)}; known: {names}")
    if spec.version not in versions:
        raise UnsupportedVersion(f"mechanism {spec.mechanism}", spec.version, max(versions))
    _check_parameters(versions[spec.version], spec.parameters)
    return versions[spec.version]


def _check_parameters(cls: type[Mechanism], given: Mapping[str, Any]) -> None:
    """Refuse a spec that lacks a parameter, which would have to be searched for, or has one that no spec carries."""
    allowed = cls.spec_parameters()
    missing = [name for name, needed in allowed.items() if needed and given.get(name) is None]
    if wrong := [*missing, *(name for name in given if name not in allowed)]:
        raise SpecError(f"spec has missing or unknown parameters for {cls.name}: {listed(wrong)}")


def _read(spec: str | bytes | Path | Mapping[str, Any], limits: Limits | None) -> Spec:
    if isinstance(spec, Mapping):
        return Spec.from_dict(dict(spec), limits=limits)
    if isinstance(spec, Path):
        with spec.open("rb") as file:  # one byte beyond the limit is enough to refuse it
            return Spec.from_json(file.read(-1 if limits is None else limits.document + 1), limits=limits)
    if isinstance(spec, str) and spec.strip()[:1] != "{" and spec.strip().endswith(".json"):
        raise SpecError(
            f"spec must be JSON, got {shown(spec)}. Did you mean the file, from_spec(Path({cut(spec.strip(), 200)!r}))?"
        )
    return Spec.from_json(spec, limits=limits)

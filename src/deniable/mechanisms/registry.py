"""All mechanisms by name and version. Adding one is one line here; removing one is never done.

A name and version never change meaning (see spec.py), so a spec written today makes the same
mechanism for ever.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from deniable.domain import Domain, Label
from deniable.errors import InvalidArgument, SpecError, UnsupportedVersion
from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.block_design import BlockDesign
from deniable.mechanisms.cyclotomic import CyclotomicSubsetResponse
from deniable.mechanisms.cyclotomic_hashing import CyclotomicLocalHashing
from deniable.mechanisms.hybrid_geometry import HybridProjectiveGeometryResponse
from deniable.mechanisms.modular_subset import ModularSubsetSelection
from deniable.mechanisms.projective_geometry import ProjectiveGeometryResponse
from deniable.mechanisms.randomized_response import RandomizedResponse
from deniable.mechanisms.subset_selection import SubsetSelection
from deniable.mechanisms.unary_encoding import OptimizedUnaryEncoding, SymmetricUnaryEncoding
from deniable.spec import Spec
from deniable.validate import choice

ALL: tuple[type[Mechanism], ...] = (
    BlockDesign,
    CyclotomicLocalHashing,
    CyclotomicSubsetResponse,
    HybridProjectiveGeometryResponse,
    ModularSubsetSelection,
    OptimizedUnaryEncoding,
    ProjectiveGeometryResponse,
    RandomizedResponse,
    SubsetSelection,
    SymmetricUnaryEncoding,
)  # fmt: skip


def mechanisms() -> list[str]:
    """The names of all mechanisms."""
    return sorted({cls.name for cls in ALL})


def mechanism(
    name: str,
    *,
    epsilon: float,
    k: int | None = None,
    labels: Iterable[Label] | None = None,
    domain: Domain | None = None,
    **parameters: Any,
) -> Mechanism:
    """Make a mechanism by name, for k values 0..k-1, for labels, or for a domain.

    >>> mechanism("grr", labels=["yes", "no"], epsilon=1.0).k
    2
    """
    newest = max((cls for cls in ALL if cls.name == choice(mechanisms(), name=name)), key=lambda cls: cls.version)
    given = {"k": k, "labels": labels, "domain": domain}
    chosen = [argument for argument, value in given.items() if value is not None]
    if len(chosen) != 1:
        raise InvalidArgument("domain", "be given once: k, labels or domain", chosen)
    values: Any = given[chosen[0]] if labels is None else Domain.categories(labels)
    try:
        return newest(Domain.of(values), epsilon, **parameters)
    except TypeError as error:
        if "unexpected keyword" in str(error):
            raise InvalidArgument("parameters", f"be known to {name}", sorted(parameters)) from None
        raise


def from_spec(spec: Spec | str | bytes, known: Iterable[type[Mechanism]] = ALL) -> Mechanism:
    """The mechanism a spec describes; its thresholds are derived again and must agree."""
    if not isinstance(spec, Spec):
        spec = Spec.from_json(spec)
    versions = {cls.version: cls for cls in known if cls.name == spec.mechanism}
    if not versions:
        names = ", ".join(sorted({cls.name for cls in known}))
        raise SpecError(f"spec names an unknown mechanism, {spec.mechanism!r}; known: {names}")
    if spec.version not in versions:
        raise UnsupportedVersion(f"mechanism {spec.mechanism}", spec.version, max(versions))
    try:
        made = versions[spec.version](spec.domain, **spec.parameters)  # type: ignore[arg-type]
    except TypeError as error:
        raise SpecError(f"spec has missing or unknown parameters: {error}") from None
    if made.spec != spec:
        raise SpecError("the spec's thresholds are not those its domain, mechanism and parameters give")
    return made

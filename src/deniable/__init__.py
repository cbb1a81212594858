"""Private telemetry you can still learn from: local differential privacy with exact mechanisms and honest error bars.

Every public name is loaded when it is first used, so that importing the package costs next to nothing. Type checkers
read `__init__.pyi`, which `make derived` writes from the two tables of names.
"""

from importlib import import_module
from typing import Any

from deniable._version import __version__ as __version__
from deniable.mechanisms.catalogue import CLASSES

PUBLIC = {  # the modules of the public names; "" where the name is that of a module
    "Accumulator": "mechanisms.base.accumulator",
    "Adapter": "auditing.empirical.adapters",
    "Alike": "derived.alike",
    "Amplification": "auditing.amplification.answer",
    "Answer": "counts.answer",
    "Audit": "auditing.audit",
    "Averaging": "auditing.attacks.averaging",
    "Client": "client.device",
    "Collection": "client.reading",
    "Comparison": "planning.costs",
    "Composition": "auditing.composition.composed",
    "ContinuousRelease": "counts.continuous.conversions",
    "Costs": "planning.costs",
    "CountOverflow": "core.errors",
    "DeniableError": "core.errors",
    "DesignWarning": "mechanisms.cohorts.sizes",
    "Detection": "auditing.attacks.detectors",
    "Differences": "derived.groups",
    "DiscreteLaplace": "counts.noise",
    "Domain": "core.domain",
    "EmptySummary": "core.errors",
    "Estimate": "core.estimate",
    "Findings": "heavy_hitters.findings",
    "FingerprintMismatch": "core.errors",
    "FoundString": "heavy_hitters.findings",
    "Gateway": "client.gateway",
    "GroupEstimates": "grouping.estimates",
    "Guarantee": "core.guarantee",
    "HeavyHitters": "heavy_hitters.protocol",
    "HitterReports": "heavy_hitters.collected",
    "HitterSummary": "heavy_hitters.collected",
    "Interval": "core.estimate",
    "InvalidArgument": "core.errors",
    "Limits": "core.limits",
    "MalformedReport": "core.errors",
    "MalformedSummary": "core.errors",
    "MissingExtra": "core.errors",
    "Plan": "planning.answer",
    "Poisoning": "auditing.attacks.poisoning",
    "Quantity": "core.quantity",
    "Reconstruction": "auditing.attacks.reconstruction",
    "Release": "counts.release",
    "Report": "core.reports",
    "Reports": "core.reports",
    "Row": "core.estimate",
    "SimulatedReport": "core.errors",
    "Spec": "core.spec",
    "SpecError": "core.errors",
    "Summary": "core.summary",
    "SummaryTable": "grouping.table",
    "Tuning": "planning.tuning",
    "UnreliableAnswer": "counts.answer",
    "UnsupportedVersion": "core.errors",
    "ValueOutsideDomain": "core.errors",
    "WeakPrivacy": "core.weak",
    "alike": "derived.alike",
    "amplify": "auditing.amplification.amplify",
    "ask": "counts",
    "audit": "auditing.audit",
    "averaging": "auditing.attacks.averaging",
    "collection": "client.reading",
    "combine": "counts.combination",
    "combine_specs": "grouping.combined",
    "compare": "planning.comparison",
    "compare_extensions": "counts.operator.debias",
    "compose": "auditing.composition.composed",
    "debias": "counts.operator.debias",
    "debias_continuous": "counts.continuous.debias",
    "debias_multivariate": "counts.operator.multivariate",
    "detect_poisoning": "auditing.attacks.detectors",
    "from_spec": "mechanisms.registry",
    "list_mechanisms": "mechanisms.registry",
    "mechanism": "mechanisms.registry",
    "plan": "planning.plan",
    "poisoning": "auditing.attacks.poisoning",
    "reconstruction": "auditing.attacks.reconstruction",
    "simulate": "simulation",
    "summarize_by": "engines.arrow",
    "to_laplace": "counts.continuous.conversions",
    "to_staircase": "counts.continuous.conversions",
    "tune": "planning.tuning",
    "users_needed": "planning.sample_size",
} | {name: f"mechanisms.{file}" for name, file in CLASSES.items()}

__all__ = sorted([*PUBLIC, "__version__"])


def __getattr__(name: str) -> Any:
    if name not in PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = f"deniable.{PUBLIC[name]}"
    value = import_module("deniable.counts.ask") if name == "ask" else getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__

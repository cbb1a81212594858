"""Private telemetry that answers: local differential privacy with exact mechanisms and honest error bars."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from deniable._version import __version__
from deniable.core.domain import Domain
from deniable.core.errors import (
    CountOverflow,
    DeniableError,
    EmptySummary,
    FingerprintMismatch,
    InvalidArgument,
    MalformedReport,
    MalformedSummary,
    MissingExtra,
    SimulatedReport,
    SpecError,
    UnsupportedVersion,
    ValueOutsideDomain,
)
from deniable.core.estimate import Estimate, Interval, Row
from deniable.core.guarantee import Guarantee
from deniable.core.reports import Report, Reports
from deniable.core.spec import Spec
from deniable.core.summary import Summary
from deniable.mechanisms.cohorts.sizes import DesignWarning
from deniable.mechanisms.registry import CLASSES, from_spec, list_mechanisms, load_class, mechanism
from deniable.simulation import simulate

if TYPE_CHECKING:  # loaded when first used, by __getattr__ below
    from deniable.counts import ask
    from deniable.counts.answer import Answer, UnreliableAnswer
    from deniable.counts.combination import combine
    from deniable.counts.continuous.conversions import ContinuousRelease, to_laplace, to_staircase
    from deniable.counts.continuous.debias import debias_continuous
    from deniable.counts.noise import DiscreteLaplace
    from deniable.counts.operator.debias import debias
    from deniable.counts.operator.extensions import compare_extensions
    from deniable.counts.operator.multivariate import debias_multivariate
    from deniable.counts.release import Release
    from deniable.heavy_hitters.collected import HitterReports, HitterSummary
    from deniable.heavy_hitters.findings import Findings, FoundString
    from deniable.heavy_hitters.protocol import HeavyHitters
    from deniable.mechanisms.cohorts.bloom_response import BloomResponse
    from deniable.mechanisms.cohorts.hadamard_sketch import HadamardSketch
    from deniable.mechanisms.cohorts.hashed_response import HashedResponse
    from deniable.mechanisms.cohorts.sketches import CountMeanSketch
    from deniable.mechanisms.designs.block_design import BlockDesign
    from deniable.mechanisms.designs.cyclotomic import CyclotomicSubsetResponse
    from deniable.mechanisms.designs.hybrid_geometry import HybridProjectiveGeometryResponse
    from deniable.mechanisms.designs.projective_geometry import ProjectiveGeometryResponse
    from deniable.mechanisms.hadamard.hadamard_response import HadamardResponse
    from deniable.mechanisms.hadamard.recursive_hadamard import RecursiveHadamardResponse
    from deniable.mechanisms.hashing.cyclotomic_hashing import CyclotomicLocalHashing
    from deniable.mechanisms.hashing.local_hashing import BinaryLocalHashing, FastLocalHashing, OptimizedLocalHashing
    from deniable.mechanisms.response.randomized_response import RandomizedResponse
    from deniable.mechanisms.subsets.modular_subset import ModularSubsetSelection
    from deniable.mechanisms.subsets.subset_selection import SubsetSelection
    from deniable.mechanisms.unary.histogram_summation import SummationHistogramEncoding
    from deniable.mechanisms.unary.histogram_thresholding import ThresholdingHistogramEncoding
    from deniable.mechanisms.unary.unary_encoding import OptimizedUnaryEncoding, SymmetricUnaryEncoding
    from deniable.planning.comparison import Comparison, Costs, compare
    from deniable.planning.sample_size import users_needed
    from deniable.planning.tuning import Tuning, tune

__all__ = [
    "Answer",
    "BinaryLocalHashing",
    "BlockDesign",
    "BloomResponse",
    "Comparison",
    "ContinuousRelease",
    "Costs",
    "CountMeanSketch",
    "CountOverflow",
    "CyclotomicLocalHashing",
    "CyclotomicSubsetResponse",
    "DeniableError",
    "DesignWarning",
    "DiscreteLaplace",
    "Domain",
    "EmptySummary",
    "Estimate",
    "FastLocalHashing",
    "Findings",
    "FingerprintMismatch",
    "FoundString",
    "Guarantee",
    "HadamardResponse",
    "HadamardSketch",
    "HashedResponse",
    "HeavyHitters",
    "HitterReports",
    "HitterSummary",
    "HybridProjectiveGeometryResponse",
    "Interval",
    "InvalidArgument",
    "MalformedReport",
    "MalformedSummary",
    "MissingExtra",
    "ModularSubsetSelection",
    "OptimizedLocalHashing",
    "OptimizedUnaryEncoding",
    "ProjectiveGeometryResponse",
    "RandomizedResponse",
    "RecursiveHadamardResponse",
    "Release",
    "Report",
    "Reports",
    "Row",
    "SimulatedReport",
    "Spec",
    "SpecError",
    "SubsetSelection",
    "Summary",
    "SummationHistogramEncoding",
    "SymmetricUnaryEncoding",
    "ThresholdingHistogramEncoding",
    "Tuning",
    "UnreliableAnswer",
    "UnsupportedVersion",
    "ValueOutsideDomain",
    "__version__",
    "ask",
    "combine",
    "compare",
    "compare_extensions",
    "debias",
    "debias_continuous",
    "debias_multivariate",
    "from_spec",
    "list_mechanisms",
    "mechanism",
    "simulate",
    "to_laplace",
    "to_staircase",
    "tune",
    "users_needed",
]

_LATER = {  # where names are that are loaded when first used
    "Answer": "counts.answer",
    "Comparison": "planning.comparison",
    "ContinuousRelease": "counts.continuous.conversions",
    "Costs": "planning.comparison",
    "DiscreteLaplace": "counts.noise",
    "Findings": "heavy_hitters.findings",
    "FoundString": "heavy_hitters.findings",
    "HeavyHitters": "heavy_hitters.protocol",
    "HitterReports": "heavy_hitters.collected",
    "HitterSummary": "heavy_hitters.collected",
    "Release": "counts.release",
    "Tuning": "planning.tuning",
    "UnreliableAnswer": "counts.answer",
    "combine": "counts.combination",
    "compare": "planning.comparison",
    "compare_extensions": "counts.operator.extensions",
    "debias": "counts.operator.debias",
    "debias_continuous": "counts.continuous.debias",
    "debias_multivariate": "counts.operator.multivariate",
    "to_laplace": "counts.continuous.conversions",
    "to_staircase": "counts.continuous.conversions",
    "tune": "planning.tuning",
    "users_needed": "planning.sample_size",
}


def __getattr__(name: str) -> Any:
    if name in CLASSES:
        return load_class(name)
    if name == "ask":
        return import_module("deniable.counts.ask")
    if name in _LATER:
        return getattr(import_module(f"deniable.{_LATER[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__

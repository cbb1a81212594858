"""Private telemetry that answers: local differential privacy with exact mechanisms and honest error bars."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from deniable._version import __version__
from deniable.domain import Domain
from deniable.errors import (
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
from deniable.estimate import Estimate, Interval, Row
from deniable.guarantee import Guarantee
from deniable.mechanisms.cohort_sizes import DesignWarning
from deniable.mechanisms.registry import CLASSES, from_spec, load_class, mechanism, mechanisms
from deniable.reports import Report, Reports
from deniable.simulation import simulate
from deniable.spec import Spec
from deniable.summary import Summary

if TYPE_CHECKING:  # loaded when first used, by __getattr__ below
    from deniable.debias import ask
    from deniable.debias.answer import Answer, UnreliableAnswer
    from deniable.debias.combination import combine
    from deniable.debias.continuous import debias_continuous
    from deniable.debias.conversions import ContinuousRelease, to_laplace, to_staircase
    from deniable.debias.discrete_laplace import DiscreteLaplace
    from deniable.debias.extensions import compare_extensions
    from deniable.debias.local_stars import LocalLapKStars
    from deniable.debias.multivariate import debias_multivariate
    from deniable.debias.operator import debias
    from deniable.debias.release import Release
    from deniable.heavy_hitters.collected import HitterReports, HitterSummary
    from deniable.heavy_hitters.findings import Findings, FoundString
    from deniable.heavy_hitters.protocol import HeavyHitters
    from deniable.mechanisms.block_design import BlockDesign
    from deniable.mechanisms.bloom_response import BloomResponse
    from deniable.mechanisms.count_mean_sketch import CountMeanSketch
    from deniable.mechanisms.cyclotomic import CyclotomicSubsetResponse
    from deniable.mechanisms.cyclotomic_hashing import CyclotomicLocalHashing
    from deniable.mechanisms.hadamard_response import HadamardResponse
    from deniable.mechanisms.hadamard_sketch import HadamardSketch
    from deniable.mechanisms.hashed_response import HashedResponse
    from deniable.mechanisms.histogram_summation import SummationHistogramEncoding
    from deniable.mechanisms.histogram_thresholding import ThresholdingHistogramEncoding
    from deniable.mechanisms.hybrid_geometry import HybridProjectiveGeometryResponse
    from deniable.mechanisms.local_hashing import BinaryLocalHashing, FastLocalHashing, OptimizedLocalHashing
    from deniable.mechanisms.modular_subset import ModularSubsetSelection
    from deniable.mechanisms.projective_geometry import ProjectiveGeometryResponse
    from deniable.mechanisms.randomized_response import RandomizedResponse
    from deniable.mechanisms.recursive_hadamard import RecursiveHadamardResponse
    from deniable.mechanisms.subset_selection import SubsetSelection
    from deniable.mechanisms.unary_encoding import OptimizedUnaryEncoding, SymmetricUnaryEncoding
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
    "LocalLapKStars",
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
    "mechanism",
    "mechanisms",
    "simulate",
    "to_laplace",
    "to_staircase",
    "tune",
    "users_needed",
]

_LATER = {  # where names are that are loaded when first used
    "Answer": "debias.answer",
    "Comparison": "planning.comparison",
    "ContinuousRelease": "debias.conversions",
    "Costs": "planning.comparison",
    "DiscreteLaplace": "debias.discrete_laplace",
    "Findings": "heavy_hitters.findings",
    "FoundString": "heavy_hitters.findings",
    "HeavyHitters": "heavy_hitters.protocol",
    "HitterReports": "heavy_hitters.collected",
    "HitterSummary": "heavy_hitters.collected",
    "LocalLapKStars": "debias.local_stars",
    "Release": "debias.release",
    "Tuning": "planning.tuning",
    "UnreliableAnswer": "debias.answer",
    "combine": "debias.combination",
    "compare": "planning.comparison",
    "compare_extensions": "debias.extensions",
    "debias": "debias.operator",
    "debias_continuous": "debias.continuous",
    "debias_multivariate": "debias.multivariate",
    "to_laplace": "debias.conversions",
    "to_staircase": "debias.conversions",
    "tune": "planning.tuning",
    "users_needed": "planning.sample_size",
}


def __getattr__(name: str) -> Any:
    if name in CLASSES:
        return load_class(name)
    if name == "ask":
        return import_module("deniable.debias.ask")
    if name in _LATER:
        return getattr(import_module(f"deniable.{_LATER[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__

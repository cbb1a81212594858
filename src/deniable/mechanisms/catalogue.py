"""The names of all mechanisms, and where each is defined. A new one adds a line here; no line is ever removed."""

from __future__ import annotations

# name and version, family and file, the class in it
ALL: tuple[tuple[str, int, str, str], ...] = (
    ("blh", 1, "hashing.local_hashing", "BinaryLocalHashing"),
    ("clh", 1, "hashing.cyclotomic_hashing", "CyclotomicLocalHashing"),
    ("cms", 1, "cohorts.sketches", "CountMeanSketch"),
    ("csr", 1, "designs.cyclotomic", "CyclotomicSubsetResponse"),
    ("design", 1, "designs.block_design", "BlockDesign"),
    ("flh", 1, "hashing.local_hashing", "FastLocalHashing"),
    ("grr", 1, "response.randomized_response", "RandomizedResponse"),
    ("hcms", 1, "cohorts.hadamard_sketch", "HadamardSketch"),
    ("hpgr", 1, "designs.hybrid_geometry", "HybridProjectiveGeometryResponse"),
    ("hr", 1, "hadamard.hadamard_response", "HadamardResponse"),
    ("matrix", 1, "channels.matrix", "MatrixMechanism"),
    ("mss", 1, "subsets.modular_subset", "ModularSubsetSelection"),
    ("olh", 1, "hashing.local_hashing", "OptimizedLocalHashing"),
    ("orappor", 1, "cohorts.bloom_response", "BloomResponse"),
    ("orr", 1, "cohorts.hashed_response", "HashedResponse"),
    ("oue", 1, "unary.unary_encoding", "OptimizedUnaryEncoding"),
    ("pgr", 1, "designs.projective_geometry", "ProjectiveGeometryResponse"),
    ("rhr", 1, "hadamard.recursive_hadamard", "RecursiveHadamardResponse"),
    ("she", 1, "unary.histogram_summation", "SummationHistogramEncoding"),
    ("ss", 1, "subsets.subset_selection", "SubsetSelection"),
    ("sue", 1, "unary.unary_encoding", "SymmetricUnaryEncoding"),
    ("the", 1, "unary.histogram_thresholding", "ThresholdingHistogramEncoding"),
)
AUTO = "auto"  # in place of a name: the mechanism with the least error
CLASSES = {cls: file for _, _, file, cls in ALL}

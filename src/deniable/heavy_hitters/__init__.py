"""Frequent strings without a list of candidates: users report prefixes of different lengths, a server extends them."""

from deniable.heavy_hitters.collected import HitterReports, HitterSummary
from deniable.heavy_hitters.findings import Findings, FoundString
from deniable.heavy_hitters.protocol import HeavyHitters

__all__ = ["Findings", "FoundString", "HeavyHitters", "HitterReports", "HitterSummary"]

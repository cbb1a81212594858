"""Empirical audits: a lower bound on the epsilon of code that runs, and its failure probability. Never "safe"."""

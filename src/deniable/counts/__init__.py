"""Noisy counts, and unbiased answers to questions about them: one release, many answers, each with its error.

Reference: Hillebrand, Imola, Pagh, Sejer 2026, "Privacy by Postprocessing the Discrete Laplace Mechanism"
(arXiv 2605.06502), whose theorems the modules cite.
"""

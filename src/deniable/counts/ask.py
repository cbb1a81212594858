"""All questions about noisy counts that have a fast unbiased answer: `dn.ask.median(release)`.

Each function takes a release (or noisy counts with their epsilon) first and returns an Answer. `QUESTIONS` lists the
questions whose parameters are plain data, for a command line or a page; `question(name)` looks one up.
"""

from __future__ import annotations

from deniable.counts.catalogue import QUESTIONS, Parameter, Question, question
from deniable.counts.operator.separable import separable
from deniable.counts.questions.concentration import gini, simpson
from deniable.counts.questions.divergence import divergence
from deniable.counts.questions.entropy import entropy
from deniable.counts.questions.extremes import maximum, minimum
from deniable.counts.questions.order_statistics import median, order_statistic, order_statistics, quantile
from deniable.counts.questions.polynomials import polynomial
from deniable.counts.questions.products import product
from deniable.counts.questions.profile import profile, threshold
from deniable.counts.questions.ratios import mean, ratio
from deniable.counts.questions.sums import degree_polynomial, moment, partition, stars, total
from deniable.counts.questions.symmetric import power_of_sum, triangles
from deniable.counts.questions.trees import tree

__all__ = [
    "QUESTIONS",
    "Parameter",
    "Question",
    "degree_polynomial",
    "divergence",
    "entropy",
    "gini",
    "maximum",
    "mean",
    "median",
    "minimum",
    "moment",
    "order_statistic",
    "order_statistics",
    "partition",
    "polynomial",
    "power_of_sum",
    "product",
    "profile",
    "quantile",
    "question",
    "ratio",
    "separable",
    "simpson",
    "stars",
    "threshold",
    "total",
    "tree",
    "triangles",
]

"""All questions about noisy counts that have a fast unbiased answer: `dn.ask.median(release)`.

Each function takes a release (or noisy counts with their epsilon) first and returns an Answer. `QUESTIONS` lists the
questions whose parameters are plain data, for a command line or a page; `question(name)` looks one up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from deniable.core.errors import InvalidArgument
from deniable.counts.answer import Answer
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


class Parameter(NamedTuple):
    """A parameter of a question: its kind is "whole", "number", "flag", "numbers", "json" or "release"."""

    name: str
    kind: str
    help: str
    required: bool = False


class Question(NamedTuple):
    """A question by name: its function, one line of help, and its parameters besides the release."""

    name: str
    function: Callable[..., Answer]
    help: str
    parameters: tuple[Parameter, ...] = ()
    many: bool = False  # the answer is an array
    parties: str = ""  # how answers of several parties combine: "sum", "mean" over all counts, or not at all


_TOTAL = Parameter("total", "whole", "the sum of the true counts, if it is public")
_REPLACEMENT = Parameter("replacement", "flag", "whether a draw is put back before the next")

QUESTIONS: tuple[Question, ...] = (
    Question("total", total, "the sum of the counts", parties="sum"),
    Question(
        "moment",
        moment,
        "the mean of the counts raised to a power",
        (Parameter("power", "whole", "the power (default: 2)"),),
        parties="mean",
    ),
    Question(
        "threshold",
        threshold,
        "the number of counts at or above a threshold",
        (Parameter("at", "whole", "the threshold (default: 1)"),),
        parties="sum",
    ),
    Question(
        "profile",
        profile,
        "the number of counts that are 0, 1, 2, ...",
        (
            Parameter("most", "whole", "the largest count to ask for (default: the largest noisy count, at most 1000)"),
            Parameter("fraction", "flag", "shares of the counts instead of numbers"),
        ),
        many=True,
        parties="sum",
    ),
    Question("minimum", minimum, "the smallest count"),
    Question("maximum", maximum, "the largest count"),
    Question("median", median, "the median of the counts"),
    Question(
        "quantile",
        quantile,
        "a quantile of the counts",
        (Parameter("share", "number", "the share of counts below it (default: 0.5)"),),
    ),
    Question(
        "order-statistic",
        order_statistic,
        "the k-th smallest count",
        (Parameter("k", "whole", "from 1 to the number of counts", required=True),),
    ),
    Question("order-statistics", order_statistics, "all counts in order, from the smallest to the largest", many=True),
    Question(
        "entropy",
        entropy,
        "the entropy of the counts' distribution",
        (_TOTAL, Parameter("base", "number", "the base of the logarithm (default: e)")),
    ),
    Question(
        "divergence",
        divergence,
        "the Kullback-Leibler divergence from another release",
        (
            Parameter("other", "release", "the release of the other counts", required=True),
            _TOTAL,
            Parameter("other_total", "whole", "the sum of the other true counts, if it is public"),
        ),
    ),
    Question(
        "simpson", simpson, "the Simpson index: the probability that two draws are of one kind", (_TOTAL, _REPLACEMENT)
    ),
    Question("gini", gini, "the Gini-Simpson index: the probability that two draws differ", (_TOTAL, _REPLACEMENT)),
    Question(
        "mean",
        mean,
        "the mean of given values, weighted by the counts",
        (Parameter("values", "numbers", "the value of each count", required=True),),
    ),
    Question(
        "ratio",
        ratio,
        "the sum of the counts over the sum of other counts",
        (Parameter("other", "release", "the release of the denominators", required=True),),
    ),
    Question(
        "partition",
        partition,
        "the partition function: the sum of e^(beta x)",
        (Parameter("beta", "number", "the rate", required=True),),
        parties="sum",
    ),
    Question(
        "stars",
        stars,
        "k-stars of a graph whose degrees are the counts",
        (Parameter("k", "whole", "the edges of a star (default: 2)"),),
        parties="sum",
    ),
    Question(
        "triangles",
        triangles,
        "triangles expected in a random graph with these degrees",
        (Parameter("edges", "whole", "the number of edges, which is public", required=True),),
    ),
    Question(
        "degree-polynomial",
        degree_polynomial,
        "the sum over all counts of a polynomial",
        (Parameter("coefficients", "numbers", "the coefficients, constant term first", required=True),),
        parties="sum",
    ),
    Question(
        "tree",
        tree,
        "the value of a decision tree on the counts",
        (
            Parameter("tree", "json", "the tree, as nested objects", required=True),
            Parameter("columns", "json", "the names of the counts"),
        ),
    ),
)


def question(name: str) -> Question:
    """Return the question of this name."""
    for each in QUESTIONS:
        if each.name == name:
            return each
    raise InvalidArgument("question", "be one of " + ", ".join(each.name for each in QUESTIONS), name)

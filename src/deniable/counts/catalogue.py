"""The questions that need nothing but numbers, with their parameters, for a command line or a page to offer.

This table is apart from the functions that answer, so that it can be read without NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from deniable.core.errors import InvalidArgument

if TYPE_CHECKING:
    from deniable.counts.answer import Answer


class Parameter(NamedTuple):
    """A parameter of a question: its kind is "whole", "number", "share", "flag", "numbers", "json" or "release"."""

    name: str
    kind: str
    help: str
    required: bool = False
    on: bool = False  # for a flag: set unless switched off


class Question(NamedTuple):
    """A question by name: one line of help, and what it asks for beside the release."""

    name: str
    help: str
    parameters: tuple[Parameter, ...] = ()
    many: bool = False  # an array of answers, not one
    parties: str = ""  # how answers of many parties combine: their "sum", the "mean" over all counts, or not at all

    @property
    def function(self) -> Callable[..., Answer]:
        """The function in `deniable.counts.ask` that answers it."""
        found: Callable[..., Answer] = getattr(import_module("deniable.counts.ask"), self.name.replace("-", "_"))
        return found


NOISE = (  # for any question, where the counts do not record their noise
    Parameter("epsilon", "number", "the epsilon of the noise, if the file does not record it"),
    Parameter("sensitivity", "whole", "the sensitivity of the noise, if the file does not record it (default: 1)"),
)
_TOTAL = Parameter("total", "whole", "the sum of the true counts, if it is public")
_REPLACEMENT = Parameter("replacement", "flag", "whether a draw is put back before the next", on=True)

QUESTIONS: tuple[Question, ...] = (
    Question("total", "the sum of the counts", parties="sum"),
    Question(
        "moment",
        "the mean of the counts raised to a power",
        (Parameter("power", "whole", "the power of each count (default: 2)"),),
        parties="mean",
    ),
    Question(
        "threshold",
        "the number of counts that reach a threshold",
        (Parameter("at", "whole", "the smallest count that is included (default: 1)"),),
        parties="sum",
    ),
    Question(
        "profile",
        "the number of counts that are 0, 1, 2 and so on",
        (
            Parameter(
                "most", "whole", "the largest count to ask about (default: the largest noisy count, at most 1000)"
            ),
            Parameter("fraction", "flag", "shares of the counts instead of numbers"),
        ),
        many=True,
        parties="sum",
    ),
    Question("minimum", "the smallest count"),
    Question("maximum", "the largest count"),
    Question("median", "the median of the counts"),
    Question(
        "quantile",
        "a quantile of the counts",
        (Parameter("share", "share", "the share of counts below the quantile (default: 0.5)"),),
    ),
    Question(
        "order-statistic",
        "the k-th smallest count",
        (Parameter("k", "whole", "which one to ask for, from 1 to the number of counts", required=True),),
    ),
    Question("order-statistics", "all counts in order, from the smallest to the largest", many=True),
    Question(
        "entropy",
        "the entropy of the counts' distribution",
        (_TOTAL, Parameter("base", "number", "the base of the logarithm (default: e)")),
    ),
    Question(
        "divergence",
        "the Kullback-Leibler divergence from another release",
        (
            Parameter("other", "release", "the release of the other counts", required=True),
            _TOTAL,
            Parameter("other_total", "whole", "the sum of the other true counts, if it is public"),
        ),
    ),
    Question("simpson", "the Simpson index: the probability that two draws are of one kind", (_TOTAL, _REPLACEMENT)),
    Question("gini", "the Gini-Simpson index: the probability that two draws differ", (_TOTAL, _REPLACEMENT)),
    Question(
        "mean",
        "the mean of given values, weighted by the counts",
        (Parameter("values", "numbers", "the value of each count", required=True),),
    ),
    Question(
        "ratio",
        "the sum of the counts over the sum of other counts",
        (Parameter("other", "release", "the release of the denominators", required=True),),
    ),
    Question(
        "partition",
        "the partition function: the sum of e^(beta x)",
        (Parameter("beta", "number", "the rate in the exponent", required=True),),
        parties="sum",
    ),
    Question(
        "stars",
        "the k-stars of a graph whose degrees are the counts",
        (Parameter("k", "whole", "the edges of a star (default: 2)"),),
        parties="sum",
    ),
    Question(
        "triangles",
        "triangles expected in a random graph with these degrees",
        (Parameter("edges", "whole", "the number of edges of the graph, which is public", required=True),),
    ),
    Question(
        "degree-polynomial",
        "the sum over all counts of a polynomial",
        (Parameter("coefficients", "numbers", "the coefficients, the constant first", required=True),),
        parties="sum",
    ),
    Question(
        "tree",
        "the outcome of a decision tree on the counts",
        (
            Parameter("tree", "json", "the tree, as nested objects", required=True),
            Parameter("columns", "json", "the names of the counts (default: those in the file)"),
        ),
    ),
)


def question(name: str) -> Question:
    """Find the question of this name."""
    for each in QUESTIONS:
        if each.name == name:
            return each
    from deniable.core.suggest import did_you_mean

    names = [each.name for each in QUESTIONS]
    raise InvalidArgument("question", "be one of " + ", ".join(names), name, did_you_mean(name, names))

"""How f goes on below zero, and what that does to the error: the same question with each way."""

from __future__ import annotations

from typing import Any

from deniable.core.errors import InvalidArgument
from deniable.counts.answer import Answer
from deniable.counts.operator.debias import debias
from deniable.counts.operator.function import BELOW, Function


def compare_extensions(f: Any, data: Any, **options: Any) -> dict[str, Answer]:
    """The answers of `debias` for each way of going on below zero, by name; ways that f does not allow are left out.

    All of them are unbiased for true counts of zero and more, and their standard errors differ. Choose by what you
    know beforehand, not by the answer: to choose the smallest standard error of the data at hand is a bias.

    >>> import deniable as dn
    >>> noisy = dn.DiscreteLaplace(1.0).release([0, 2, 0, 1], seed=3)
    >>> sorted(dn.compare_extensions(lambda x: abs(x), noisy, reduce="sum"))
    ['constant', 'f', 'linear', 'zero']
    """
    found, refused = {}, None
    for below in BELOW:
        try:
            Function.of(f, below)
            found[below] = debias(f, data, below=below, **options)
        except InvalidArgument as error:
            refused = error
    if not found and refused is not None:
        raise refused
    return found

"""Extensions of f below zero compared: the same question with each of them, and the errors they lead to."""

from __future__ import annotations

from typing import Any

from deniable.core.errors import InvalidArgument
from deniable.counts.answer import Answer
from deniable.counts.operator.debias import debias
from deniable.counts.operator.function import BELOW, Function


def compare_extensions(f: Any, data: Any, **options: Any) -> dict[str, Answer]:
    """The answers of `debias` for each extension of f below zero, by name; those that f does not allow are omitted.

    All of them are unbiased for true counts of zero and above; their standard errors differ. Choose by prior
    knowledge, not by the answer: choosing the smallest standard error on the data at hand introduces a bias.

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

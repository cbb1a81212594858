"""Options of `deniable estimate` that ask for derived answers, and the answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from deniable.cli.shares import share

if TYPE_CHECKING:
    from deniable.core.domain import Domain
    from deniable.core.estimate import Estimate
    from deniable.core.quantity import Quantity

Sums = Annotated[
    list[str] | None,
    typer.Option("--sum", metavar="LABEL,LABEL,...", help="Also the share of these labels together. Repeatable."),
]
Mean = Annotated[bool, typer.Option("--mean", help="Also the mean of the values, if they are whole numbers.")]
Quantiles = Annotated[
    list[float] | None,
    typer.Option(
        "--quantile", parser=share, metavar="SHARE", help="Also this quantile; 50% for the median. Repeatable."
    ),
]


def derived(
    answer: Estimate, level: float, sums: list[str] | None, mean: bool, quantiles: list[float] | None
) -> list[Quantity]:
    """The derived answers that were asked for."""
    found = [answer.sum([labelled(answer.domain, name) for name in text.split(",")], level) for text in sums or []]
    if mean:
        found.append(answer.mean(level))
    return [*found, *(answer.quantile(share, level) for share in quantiles or [])]


def labelled(domain: Domain, text: str) -> Any:
    """The label that is written like this; the text itself where there is none, to be refused."""
    from deniable.core.domain.listed import Integers

    if isinstance(domain, Integers):
        return int(text) if text.lstrip("-").isdecimal() else text
    labels = {str(label): label for label in domain.all_labels()}
    return labels.get(text, labels.get(text.capitalize(), text) if True in labels.values() else text)

"""All papers and their experiments, by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module

from deniable.errors import InvalidArgument
from deniable.papers.experiment import Experiment


@dataclass(frozen=True)
class Paper:
    """A paper: the name a person types, and where its experiments are."""

    name: str
    folder: str
    title: str

    def experiments(self) -> tuple[Experiment, ...]:
        """Its experiments, in the order of the paper."""
        found: tuple[Experiment, ...] = import_module(f"deniable.papers.{self.folder}").EXPERIMENTS
        return found


PAPERS: tuple[Paper, ...] = (
    Paper(
        "rr-mle",
        "randomized_response_mle",
        "Estimating the True Distribution of Data Collected with Randomized Response (Pinzon et al. 2026)",
    ),
    Paper(
        "kbr",
        "discrete_distribution",
        "Discrete Distribution Estimation under Local Privacy (Kairouz, Bonawitz, Ramage 2016)",
    ),
    Paper(
        "mss",
        "modular_subset",
        "Private Frequency Estimation via Residue Number Systems (Arcolezi 2026)",
    ),
    Paper(
        "dlap",
        "discrete_laplace",
        "Privacy by Postprocessing the Discrete Laplace Mechanism (Hillebrand, Imola, Pagh, Sejer 2026)",
    ),
)


def experiments(names: Sequence[str] = ()) -> list[Experiment]:
    """The experiments of these names, paper or paper/figure; all by default.

    >>> experiments(["kbr/figure-3"])[0].name
    'figure-3'
    """
    everything = [each for paper in PAPERS for each in paper.experiments()]
    if not names:
        return everything
    chosen = []
    for name in names:
        matching = [each for each in everything if name in (each.paper, each.id)]
        if not matching:
            paper = name.partition("/")[0]
            near = [each.id for each in everything if each.paper == paper] or [paper.name for paper in PAPERS]
            raise InvalidArgument("name", f"be one of {', '.join(near)}", name)
        chosen += [each for each in matching if each not in chosen]
    return chosen

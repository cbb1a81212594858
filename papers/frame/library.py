"""All papers and their experiments, by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module

from deniable.core.errors import InvalidArgument
from papers.frame.experiment import Experiment


@dataclass(frozen=True)
class Paper:
    """A paper: its name on the command line, which is also its folder, its title, its authors, and its address."""

    name: str
    title: str
    authors: str
    url: str

    def experiments(self) -> tuple[Experiment, ...]:
        """Return its experiments, in the order of the paper."""
        found: tuple[Experiment, ...] = import_module(f"papers.{self.name}").EXPERIMENTS
        return found


PAPERS: tuple[Paper, ...] = (
    Paper(
        "rr_mle",
        "Estimating the True Distribution of Data Collected with Randomized Response",
        "Pinzón, ElSalamouny, Massot, Miller, Arcolezi, Palamidessi (AAAI 2026).",
        "https://doi.org/10.1609/aaai.v40i42.40888",
    ),
    Paper(
        "kbr",
        "Discrete Distribution Estimation under Local Privacy",
        "Kairouz, Bonawitz, Ramage (ICML 2016).",
        "https://arxiv.org/abs/1602.07387",
    ),
    Paper(
        "mss",
        "Private Frequency Estimation via Residue Number Systems",
        "Arcolezi (2025).",
        "https://arxiv.org/abs/2511.11569",
    ),
    Paper(
        "dlap",
        "Privacy by Postprocessing the Discrete Laplace Mechanism",
        "Hillebrand, Imola, Pagh, Sejer (2026).",
        "https://arxiv.org/abs/2605.06502",
    ),
)


def experiments(names: Sequence[str] = ()) -> list[Experiment]:
    """Return the experiments with these names, paper or paper/figure; all by default.

    >>> experiments(["kbr/figure-3"])[0].name
    'figure-3'
    """
    if not names:
        return [each for paper in PAPERS for each in paper.experiments()]
    chosen: list[Experiment] = []
    for name in names:
        chosen += [each for each in _matching(name) if each not in chosen]
    return chosen


def _matching(name: str) -> list[Experiment]:
    """Return the experiments of one name; no other paper is loaded."""
    papers = {paper.name: paper for paper in PAPERS}
    paper, _, figure = name.partition("/")
    if paper not in papers:
        raise InvalidArgument("name", f"be one of {', '.join(papers)}", name)
    known = papers[paper].experiments()
    matching = [each for each in known if figure in ("", each.name)]
    if not matching:
        raise InvalidArgument("name", f"be one of {', '.join(each.id for each in known)}", name)
    return matching

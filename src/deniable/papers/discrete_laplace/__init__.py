"""Privacy by Postprocessing the Discrete Laplace Mechanism (Hillebrand, Imola, Pagh, Sejer 2026): its experiments."""

from __future__ import annotations

from deniable.papers.discrete_laplace.conversions import FIGURE_2, FIGURE_3
from deniable.papers.discrete_laplace.entropies import FIGURE_5
from deniable.papers.discrete_laplace.exponentials import COROLLARY_7, PROPOSITION_6
from deniable.papers.discrete_laplace.majority import PROPOSITION_8
from deniable.papers.discrete_laplace.overview import FIGURE_1
from deniable.papers.discrete_laplace.partitions import FIGURE_6, FIGURE_7
from deniable.papers.discrete_laplace.profiles import FIGURE_8, FIGURE_9
from deniable.papers.discrete_laplace.stars import FIGURE_4
from deniable.papers.experiment import Experiment

EXPERIMENTS: tuple[Experiment, ...] = (
    FIGURE_1,
    PROPOSITION_6,
    COROLLARY_7,
    PROPOSITION_8,
    FIGURE_2,
    FIGURE_3,
    FIGURE_4,
    FIGURE_5,
    FIGURE_6,
    FIGURE_7,
    FIGURE_8,
    FIGURE_9,
)

"""Privacy by Postprocessing the Discrete Laplace Mechanism (Hillebrand, Imola, Pagh, Sejer 2026): its experiments."""

from __future__ import annotations

from papers.dlap.conversions import FIGURE_2, FIGURE_3
from papers.dlap.entropies import FIGURE_5
from papers.dlap.exponentials import COROLLARY_7, PROPOSITION_6
from papers.dlap.majority import PROPOSITION_8
from papers.dlap.overview import FIGURE_1
from papers.dlap.partitions import FIGURE_6, FIGURE_7
from papers.dlap.profiles import FIGURE_8, FIGURE_9
from papers.dlap.stars import FIGURE_4
from papers.frame.experiment import Experiment

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

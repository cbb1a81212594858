"""Kairouz, Bonawitz, Ramage 2016: discrete distribution estimation with k-RR, k-RAPPOR, and hashed forms of both."""

from __future__ import annotations

from papers.frame.experiment import Experiment
from papers.kbr.binary import THEOREM_2
from papers.kbr.bounds import PROPOSITION_1
from papers.kbr.crossing import PROPOSITION_5
from papers.kbr.decoder_figures import FIGURE_1, FIGURE_2, FIGURE_4, FIGURE_5, FIGURE_6
from papers.kbr.minimax import SECTION_E_2
from papers.kbr.needed import FIGURE_9, FIGURE_10, FIGURE_14
from papers.kbr.propositions import PROPOSITION_3, PROPOSITION_4, SECTION_4_3
from papers.kbr.sizes import FIGURE_11, FIGURE_12, FIGURE_15, FIGURE_16
from papers.kbr.strings import SECTION_G
from papers.kbr.utility_figures import FIGURE_3, FIGURE_7, FIGURE_8, FIGURE_13

EXPERIMENTS: tuple[Experiment, ...] = (
    PROPOSITION_1,
    THEOREM_2,
    PROPOSITION_3,
    PROPOSITION_4,
    SECTION_4_3,
    PROPOSITION_5,
    SECTION_E_2,
    SECTION_G,
    FIGURE_1,
    FIGURE_2,
    FIGURE_3,
    FIGURE_4,
    FIGURE_5,
    FIGURE_6,
    FIGURE_7,
    FIGURE_8,
    FIGURE_9,
    FIGURE_10,
    FIGURE_11,
    FIGURE_12,
    FIGURE_13,
    FIGURE_14,
    FIGURE_15,
    FIGURE_16,
)

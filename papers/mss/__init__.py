"""Private Frequency Estimation via Residue Number Systems (Arcolezi 2026): its figures, tables and theorems."""

from __future__ import annotations

from papers.frame.experiment import Experiment
from papers.mss.attack_figure import FIGURE_3
from papers.mss.communication import FIGURE_2
from papers.mss.conditioning import THEOREM_3, THEOREM_4
from papers.mss.exactness import THEOREM_1, THEOREM_2
from papers.mss.formulas import TABLE_1
from papers.mss.times import TABLE_2
from papers.mss.utility import FIGURE_1

EXPERIMENTS: tuple[Experiment, ...] = (
    TABLE_1,
    THEOREM_1,
    THEOREM_2,
    THEOREM_3,
    THEOREM_4,
    FIGURE_1,
    FIGURE_2,
    TABLE_2,
    FIGURE_3,
)

"""Private Frequency Estimation via Residue Number Systems (Arcolezi 2026): its figures, tables and theorems."""

from __future__ import annotations

from deniable.papers.experiment import Experiment
from deniable.papers.modular_subset.attack_figure import FIGURE_3
from deniable.papers.modular_subset.communication import FIGURE_2
from deniable.papers.modular_subset.conditioning import THEOREM_3, THEOREM_4
from deniable.papers.modular_subset.exactness import THEOREM_1, THEOREM_2
from deniable.papers.modular_subset.formulas import TABLE_1
from deniable.papers.modular_subset.times import TABLE_2
from deniable.papers.modular_subset.utility import FIGURE_1

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

"""The exact maximum likelihood of randomised response (Pinzón, ElSalamouny, Massot, Miller, Arcolezi, Palamidessi)."""

from __future__ import annotations

from papers.frame.experiment import Experiment
from papers.rr_mle.figures import FIGURES
from papers.rr_mle.properties import PROPERTIES
from papers.rr_mle.theorems import THEOREMS

EXPERIMENTS: tuple[Experiment, ...] = (*FIGURES, *PROPERTIES, *THEOREMS)

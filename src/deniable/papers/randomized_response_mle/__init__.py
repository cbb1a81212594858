"""The exact maximum likelihood of randomised response (Pinzon, ElSalamouny, Massot, Miller, Arcolezi, Palamidessi)."""

from __future__ import annotations

from deniable.papers.experiment import Experiment
from deniable.papers.randomized_response_mle.figures import FIGURES
from deniable.papers.randomized_response_mle.properties import PROPERTIES
from deniable.papers.randomized_response_mle.theorems import THEOREMS

EXPERIMENTS: tuple[Experiment, ...] = (*FIGURES, *PROPERTIES, *THEOREMS)

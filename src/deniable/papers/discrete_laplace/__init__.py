"""Experiments of the paper; see library.py."""

from __future__ import annotations

from deniable.papers.experiment import Experiment

EXPERIMENTS: tuple[Experiment, ...] = ()

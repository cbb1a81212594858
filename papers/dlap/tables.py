"""The counts that the case studies publish: real if the file is found, otherwise synthetic and labelled so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.core.arrays import Counts
from deniable.randomness.simulated import generator
from papers.frame.data import find, histogram, matrix, numbers

DEGREES_FILE = "facebook_degree_sequence.txt"
WORDS_FILE = "hist_shakespeare_words.csv"
DOCUMENTS_FILE = "nips_uci1500_vocab7605_counts.npz"

UNIFORM, ZIPF, EXAC, SHAKESPEARE = "uniform", "Zipf", "ExAC stand-in", "Shakespeare"
SYNTHETIC, REAL = (UNIFORM, ZIPF), (EXAC, SHAKESPEARE)
_TOO_SHORT = 5  # documents with at most this number of words are omitted, as in the paper


@dataclass(frozen=True)
class Table:
    """True counts, and a description of their source."""

    counts: Counts
    label: str


def table(name: str) -> Table:
    """One of the four frequency tables of sections E.3 and E.4."""
    return {UNIFORM: _uniform, ZIPF: _zipf, EXAC: _variants, SHAKESPEARE: _words}[name]()


def degrees() -> Table:
    """The degrees of the Facebook graph."""
    if find(DEGREES_FILE):
        return Table(numbers(DEGREES_FILE), "Facebook, 4,039 nodes")
    # quantiles of a log-normal distribution of median 25, cut at 1045: the mean is near 44 too
    drawn = np.exp(generator(0).normal(np.log(25), 1.07, 4039))
    return Table(np.clip(np.round(drawn), 1, 1045).astype(np.int64), "stand-in: log-normal degrees")


def documents(most: int | None = None) -> tuple[Any, str]:
    """Sparse word counts by document, without documents of at most five words; only the first `most` if given."""
    if find(DOCUMENTS_FILE):
        found, label = matrix(DOCUMENTS_FILE), "NIPS bag of words, 7,605 words"
        found = found[np.asarray(found.sum(axis=1)).reshape(-1) > _TOO_SHORT]
    else:
        found, label = _stand_in_documents(most or 1491), "stand-in: documents drawn from Zipf 1"
    return (found if most is None else found[:most]), label


def _stand_in_documents(many: int, words: int = 7605) -> Any:
    from scipy.sparse import csr_array

    source, weights = generator(0), 1.0 / np.arange(1, words + 1)
    lengths = source.poisson(1250, many)
    return csr_array(source.multinomial(lengths, weights / weights.sum()))


def _uniform() -> Table:
    return Table(np.ones(10_000, np.int64), "10,000 counts of 1")


def _zipf() -> Table:
    # the i-th count is 40/sqrt(i), rounded up: three quarters are 1 or 2, the largest is 40
    ranks = np.arange(1, 10_001)
    return Table(np.ceil(40 / np.sqrt(ranks)).astype(np.int64), "40/sqrt(i) rounded up, 10,000 counts")


def _variants() -> Table:
    # half of all variants are seen once; the shares of variants seen r times fall like r^-1.8
    weights = np.arange(1.0, 51.0) ** -1.8
    shares = generator(0).multinomial(50_000, weights / weights.sum())
    return Table(np.repeat(np.arange(1, 51), shares), "stand-in: 50,000 variants, r^-1.8")


def _words() -> Table:
    if find(WORDS_FILE):
        return Table(histogram(WORDS_FILE)[1], "Shakespeare, 25,987 words")
    ranks = np.arange(1, 26_001)
    return Table(np.ceil(27_000 / ranks**1.1).astype(np.int64), "stand-in: Zipf 1.1, 26,000 words")

"""Estimation methods in one line each: the only place for these lines, which cards and documents show."""

from __future__ import annotations

METHODS = {
    "unbiased": "the linear estimate; right on average, but single frequencies may be negative or exceed 1.",
    "norm": "the unbiased estimate, shifted to sum to 1; frequencies may be negative.",
    "base-pos": "the unbiased estimate with negative frequencies set to 0; the sum exceeds 1.",
    "base-cut": "the unbiased estimate of the values that stand out from zero, and 0 for all others.",
    "normalized": "the positive part of the unbiased estimate, rescaled to sum to 1.",
    "norm-cut": "the largest unbiased frequencies, kept until they sum to 1; all others are 0.",
    "projected": "the distribution nearest to the unbiased estimate.",
    "power": "the posterior mean if counts follow a power law; meant for skewed data.",
    "power-ns": "the power-law posterior mean, projected to a distribution; meant for skewed data.",
    "mle-apx": "the most likely distribution if the noise were Gaussian.",
    "gls": "generalised least squares, projected to a distribution; close to the most likely one for less work.",
    "mle": "the distribution under which these reports are most likely.",
    "ibu": "the distribution under which these reports are most likely, by the iterative Bayesian update.",
    "mixture-reduction": "the most likely distribution after rare values are merged, where merging lowers the BIC.",
    "mle-reports": "the distribution under which these reports are most likely, from the stored reports.",
    "composite": "the most likely distribution if the bits of a report were independent.",
    "sketch": "the mean over the hash functions; values that share a bucket are confused.",
    "least-squares": "all candidates fitted at once; right on average over the hash functions, may be negative.",
    "nonnegative": "least squares among frequencies that are not negative.",
    "selected": "the candidates found to be present, fitted together; 0 for all others.",
    "per-candidate": "each candidate from its own cells, with all other strings as noise; may be negative.",
}

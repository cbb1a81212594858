"""Answers derived from estimates: sums, differences, ratios, means, quantiles, entropy, comparisons of groups."""

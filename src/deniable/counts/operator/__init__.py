"""The debiasing operator: an unbiased answer from noisy counts, for one count, many, or several together."""

"""The debiasing operator: unbiased answers about one noisy count, sums over many, or several jointly."""

"""The questions that can be asked of noisy counts, one file per subject."""

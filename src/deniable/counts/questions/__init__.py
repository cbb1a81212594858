"""The questions noisy counts answer, one file per subject."""

"""Channels given as a matrix of probabilities: matrix."""

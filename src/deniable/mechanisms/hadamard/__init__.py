"""Hadamard matrices: hr, rhr."""

"""Proof for whoever does not take our word: what a spec, a matrix or anybody's code really spends."""

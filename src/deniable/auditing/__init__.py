"""Proof for whoever does not take our word: what a mechanism gives away, and what liars and shuffling change."""

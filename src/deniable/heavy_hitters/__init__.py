"""Frequent strings without a list of candidates: users report prefixes of different lengths, a server extends them."""

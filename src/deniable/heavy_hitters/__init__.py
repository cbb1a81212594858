"""Frequent strings without a list of candidates: users tell beginnings of different lengths, a server extends them."""

"""Specs from strangers: what they may cost."""

"""Randomised response: grr."""

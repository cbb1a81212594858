"""Shuffling: the privacy of reports of which nobody knows who sent which."""

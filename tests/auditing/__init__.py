"""Attacks, shuffling and composition, against exact enumeration."""

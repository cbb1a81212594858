"""Channels as linear operators, one file per family of mechanisms."""

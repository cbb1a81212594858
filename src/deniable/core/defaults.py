"""Defaults that the library and the command line share, apart from anything that loads NumPy."""

LEVEL = 0.95  # confidence level of intervals
SHOWN = 20  # rows in a printed table
RATE = 0.05  # share of absent values among those called present, on average

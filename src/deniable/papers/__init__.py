"""Published figures and tables, redrawn from this package's code, with a verdict on each claim.

Each paper is a folder with a declarative list of experiments; one runner, one set of judges, one way to draw and one
report serve all of them.
"""

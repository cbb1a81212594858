"""Published figures and tables, redrawn with `deniable`, with a verdict on each claim.

Each paper is a folder with a declarative list of experiments, named as on the command line; the runner, the judges, the
drawing and the report in frame/ serve all of them.
"""

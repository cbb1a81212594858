"""Published figures and tables, redrawn with `deniable`, with a verdict on each claim.

Each paper is a folder with a declarative list of experiments, named as it is typed; one runner, one set of judges, one
way to draw and one report (frame/) serve all of them.
"""

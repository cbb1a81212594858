"""Exact audits: the channel derived once more, from the text of a spec, a matrix, or code that takes its words."""

"""Measure deniable and its peers on the same data and core in one run: `make bench`.

A row of the table is one small function in benchmarks/rows and one `Row(job, measure, goals)` in that
file's ROWS; a peer's part of it is one small function in peers.py. Nothing else needs to change.
"""

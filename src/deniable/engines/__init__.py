"""Engines: reports where people keep them (files, DuckDB, polars, Spark) into the same summaries, byte for byte."""

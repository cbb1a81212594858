"""Engines: the same reports by any way in give the same bytes."""

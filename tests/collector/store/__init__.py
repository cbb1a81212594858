"""Tests of the stores, over SQLite and PostgreSQL."""

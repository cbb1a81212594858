"""Tests of the collector."""

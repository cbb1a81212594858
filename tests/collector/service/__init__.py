"""Tests of the rules of a collector, without HTTP."""

"""Tests of a collector over HTTP."""

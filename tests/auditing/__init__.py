"""Audits, attacks, shuffling and composition: against exact enumeration, and on planted faults."""

"""Audits: what is derived equals what runs, bounds hold, and planted faults are caught."""

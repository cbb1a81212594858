"""A bounded load generator for a collector on the same machine, with a verdict: was every report counted once?"""

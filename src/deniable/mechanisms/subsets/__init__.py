"""Random subsets: ss, mss."""

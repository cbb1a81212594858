"""Proof for whoever does not take our word: what code really spends, what liars gain, what shuffling adds."""

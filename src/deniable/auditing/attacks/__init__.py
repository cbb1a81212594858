"""What an attacker learns or moves, computed exactly: guesses, false reports, repeated reports; and how liars are seen."""

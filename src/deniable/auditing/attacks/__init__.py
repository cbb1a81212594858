"""What an attacker learns or moves, exactly: guesses, false and repeated reports; and how liars are seen."""

"""Several reports of one person: how their epsilons add up."""

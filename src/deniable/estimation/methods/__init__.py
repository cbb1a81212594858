"""The estimation methods: from counts and a channel to frequencies."""

"""What every mechanism promises: checks, the settings they run on, and faults each of which they must catch."""

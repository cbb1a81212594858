"""One module per group of jobs, each with its ROWS; see registry.py."""

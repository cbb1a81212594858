"""How a value becomes a report, and how reports become frequencies: one file per mechanism."""

"""Where a collector keeps what it may not lose: a protocol, with SQLite and PostgreSQL behind it."""

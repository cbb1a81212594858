"""A device in Python: it answers once, keeps a ledger of what it has spent, and sends what it must."""

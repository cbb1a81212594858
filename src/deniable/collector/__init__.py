"""A service that takes reports, loses none, counts none twice, and answers with error bars.

Four rooms: `wire` (deniable.wire: bytes), `service` (the rules; knows no HTTP and no SQL), `store` (a protocol, with
SQLite and PostgreSQL behind it) and `http`.
"""

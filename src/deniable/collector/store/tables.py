"""The tables of a collector, the same in SQLite and in PostgreSQL.

Devices write most rows of `ids`, one for each report, so its key is all there is to it. Reports themselves are laid end
to end, one row for each cell and commit; what the counts of a cell are is one row of `cells`.

A cell's published summary is stored only while it differs from the whole one: it is `summary` if `published_n` equals
`n`, and `apart` otherwise. `touched` grows with every change of a cell or of its stored reports, so that whoever
counted on what has changed meanwhile notices.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    false,
    true,
)

ID_BYTES = 16
DELETED = 0  # in place of the arrival of an id whose report was deleted before it was counted

metadata = MetaData()
# SQLite numbers rows by itself only in a column that is exactly INTEGER
RowNumber = BigInteger().with_variant(Integer, "sqlite")

collections = Table(
    "collections",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("settings", Text, nullable=False),
    Column("signer", LargeBinary, nullable=False),
    Column("remembered_from", BigInteger, nullable=False),
    sqlite_autoincrement=True,
)

specs = Table(
    "specs",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("collection", Integer, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("document", Text, nullable=False),
    Column("added", BigInteger, nullable=False),
    UniqueConstraint("collection", "fingerprint"),
)

keys = Table(
    "keys",
    metadata,
    Column("digest", LargeBinary, primary_key=True),
    Column("role", Text, nullable=False),
    Column("collection", Integer),
    Column("label", Text, nullable=False),
    Column("made", BigInteger, nullable=False),
    Column("revoked", BigInteger),
)

ids = Table(
    "ids",
    metadata,
    Column("collection", Integer, primary_key=True, autoincrement=False),
    Column("hour", BigInteger, primary_key=True, autoincrement=False),
    Column("id", LargeBinary, primary_key=True),
    Column("arrival", BigInteger, nullable=False),  # that of its row in reports
    sqlite_with_rowid=False,
)

reports = Table(
    "reports",
    metadata,
    Column("number", RowNumber, primary_key=True),
    Column("cell", BigInteger, nullable=False),
    Column("arrival", BigInteger, nullable=False, index=True),  # of the commit that stored it: a random number
    Column("hour", BigInteger, nullable=False),  # under which the ids are remembered
    Column("n", BigInteger, nullable=False),
    Column("whole", Boolean, nullable=False),  # a batch with one id, whose reports have none
    Column("counted", Boolean, nullable=False),
    Column("ids", LargeBinary, nullable=False),
    Column("payloads", LargeBinary, nullable=False),
)
Index(
    "reports_waiting",
    reports.c.cell,
    reports.c.number,
    reports.c.n,
    sqlite_where=reports.c.counted == false(),
    postgresql_where=reports.c.counted == false(),
)
reports_kept = Index(  # of which only ids of an hour, or whole collections, are looked for
    "reports_kept",
    reports.c.hour,
    reports.c.cell,
    sqlite_where=reports.c.counted == true(),
    postgresql_where=reports.c.counted == true(),
)

cells = Table(
    "cells",
    metadata,
    Column("number", RowNumber, primary_key=True),
    Column("collection", Integer, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("bucket", BigInteger, nullable=False),
    Column("segments", LargeBinary, nullable=False),
    Column("touched", BigInteger, nullable=False, default=0),
    Column("n", BigInteger, nullable=False, default=0),
    Column("published_n", BigInteger, nullable=False, default=0),
    Column("version", BigInteger, nullable=False, default=0),
    Column("checksum", BigInteger),  # CRC-32 of the summary
    Column("apart_checksum", BigInteger),
    Column("summary", LargeBinary),
    Column("apart", LargeBinary),
    UniqueConstraint("collection", "fingerprint", "bucket", "segments"),
    sqlite_autoincrement=True,  # numbers of deleted cells are not used again
)

imports = Table(
    "imports",
    metadata,
    Column("collection", Integer, primary_key=True, autoincrement=False),
    Column("name", LargeBinary, primary_key=True),
    sqlite_with_rowid=False,
)

refusals = Table(
    "refusals",
    metadata,
    Column("collection", Integer, primary_key=True, autoincrement=False),
    Column("day", BigInteger, primary_key=True, autoincrement=False),
    Column("reason", Text, primary_key=True),
    Column("n", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

numbers = Table(
    "numbers",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

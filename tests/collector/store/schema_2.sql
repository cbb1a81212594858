CREATE TABLE cells (
	number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
	collection INTEGER NOT NULL,
	fingerprint TEXT NOT NULL,
	bucket BIGINT NOT NULL,
	segments BLOB NOT NULL,
	touched BIGINT NOT NULL,
	n BIGINT NOT NULL,
	published_n BIGINT NOT NULL,
	version BIGINT NOT NULL,
	checksum BIGINT,
	apart_checksum BIGINT,
	summary BLOB,
	apart BLOB,
	UNIQUE (collection, fingerprint, bucket, segments)
)

CREATE TABLE collections (
	number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
	name TEXT NOT NULL,
	settings TEXT NOT NULL,
	signer BLOB NOT NULL,
	remembered_from BIGINT NOT NULL,
	UNIQUE (name)
)

CREATE TABLE ids (
	collection INTEGER NOT NULL,
	hour BIGINT NOT NULL,
	id BLOB NOT NULL,
	arrival BIGINT NOT NULL,
	PRIMARY KEY (collection, hour, id)
)
 WITHOUT ROWID

CREATE TABLE imports (
	collection INTEGER NOT NULL,
	name BLOB NOT NULL,
	PRIMARY KEY (collection, name)
)
 WITHOUT ROWID

CREATE TABLE keys (
	digest BLOB NOT NULL,
	role TEXT NOT NULL,
	collection INTEGER,
	label TEXT NOT NULL,
	made BIGINT NOT NULL,
	revoked BIGINT,
	PRIMARY KEY (digest)
)

CREATE TABLE numbers (
	name TEXT NOT NULL,
	value BIGINT NOT NULL,
	PRIMARY KEY (name)
)
 WITHOUT ROWID

CREATE TABLE refusals (
	collection INTEGER NOT NULL,
	day BIGINT NOT NULL,
	reason TEXT NOT NULL,
	n BIGINT NOT NULL,
	PRIMARY KEY (collection, day, reason)
)
 WITHOUT ROWID

CREATE TABLE reports (
	number INTEGER NOT NULL,
	cell BIGINT NOT NULL,
	arrival BIGINT NOT NULL,
	hour BIGINT NOT NULL,
	n BIGINT NOT NULL,
	whole BOOLEAN NOT NULL,
	counted BOOLEAN NOT NULL,
	ids BLOB NOT NULL,
	payloads BLOB NOT NULL,
	PRIMARY KEY (number)
)

CREATE INDEX ix_reports_arrival ON reports (arrival)

CREATE INDEX reports_kept ON reports (hour, cell) WHERE counted = 1

CREATE INDEX reports_waiting ON reports (cell, number, n) WHERE counted = 0

CREATE TABLE specs (
	number INTEGER NOT NULL,
	collection INTEGER NOT NULL,
	fingerprint TEXT NOT NULL,
	document TEXT NOT NULL,
	added BIGINT NOT NULL,
	PRIMARY KEY (number),
	UNIQUE (collection, fingerprint)
)

CREATE TABLE cells (
	number BIGSERIAL NOT NULL,
	collection INTEGER NOT NULL,
	fingerprint TEXT NOT NULL,
	bucket BIGINT NOT NULL,
	segments BYTEA NOT NULL,
	touched BIGINT NOT NULL,
	n BIGINT NOT NULL,
	published_n BIGINT NOT NULL,
	version BIGINT NOT NULL,
	checksum BIGINT,
	apart_checksum BIGINT,
	summary BYTEA,
	apart BYTEA,
	PRIMARY KEY (number),
	UNIQUE (collection, fingerprint, bucket, segments)
)

CREATE TABLE collections (
	number SERIAL NOT NULL,
	name TEXT NOT NULL,
	settings TEXT NOT NULL,
	signer BYTEA NOT NULL,
	remembered_from BIGINT NOT NULL,
	PRIMARY KEY (number),
	UNIQUE (name)
)

CREATE TABLE ids (
	collection INTEGER NOT NULL,
	hour BIGINT NOT NULL,
	id BYTEA NOT NULL,
	arrival BIGINT NOT NULL,
	PRIMARY KEY (collection, hour, id)
)

CREATE TABLE imports (
	collection INTEGER NOT NULL,
	name BYTEA NOT NULL,
	PRIMARY KEY (collection, name)
)

CREATE TABLE keys (
	digest BYTEA NOT NULL,
	role TEXT NOT NULL,
	collection INTEGER,
	label TEXT NOT NULL,
	made BIGINT NOT NULL,
	revoked BIGINT,
	PRIMARY KEY (digest)
)

CREATE TABLE numbers (
	name TEXT NOT NULL,
	value BIGINT NOT NULL,
	PRIMARY KEY (name)
)

CREATE TABLE refusals (
	collection INTEGER NOT NULL,
	day BIGINT NOT NULL,
	reason TEXT NOT NULL,
	n BIGINT NOT NULL,
	PRIMARY KEY (collection, day, reason)
)

CREATE TABLE reports (
	number BIGSERIAL NOT NULL,
	cell BIGINT NOT NULL,
	arrival BIGINT NOT NULL,
	hour BIGINT NOT NULL,
	n BIGINT NOT NULL,
	whole BOOLEAN NOT NULL,
	counted BOOLEAN NOT NULL,
	ids BYTEA NOT NULL,
	payloads BYTEA NOT NULL,
	PRIMARY KEY (number)
)

CREATE INDEX ix_reports_arrival ON reports (arrival)

CREATE INDEX reports_kept ON reports (hour, cell) WHERE counted = true

CREATE INDEX reports_waiting ON reports (cell, number, n) WHERE counted = false

CREATE TABLE specs (
	number SERIAL NOT NULL,
	collection INTEGER NOT NULL,
	fingerprint TEXT NOT NULL,
	document TEXT NOT NULL,
	added BIGINT NOT NULL,
	PRIMARY KEY (number),
	UNIQUE (collection, fingerprint)
)

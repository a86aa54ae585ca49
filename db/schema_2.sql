-- SPDX-License-Identifier: GPL-2.0-or-later
-- schema_2.sql - what version 2 of the database adds to schema.sql

CREATE INDEX epoch_from ON epoch (from_ns);

CREATE TABLE capture (
	-- What was kept of a file's procedures: read when the file is gone.
	image INTEGER NOT NULL REFERENCES image (id),
	part INTEGER NOT NULL,		-- 1, 2, 3, ...: each adds procedures
	covers BLOB NOT NULL,		-- offsets that it answers for; see cpi-db(5)
	data BLOB NOT NULL,		-- symbols, code, lines; see cpi-db(5)
	PRIMARY KEY (image, part)
) STRICT, WITHOUT ROWID;

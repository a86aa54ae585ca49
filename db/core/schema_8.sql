-- SPDX-License-Identifier: GPL-2.0-or-later
-- schema_8.sql - what version 8 of the database changes in schema_7.sql

-- Without row ids each step of a search copied the data of the row that it met.
CREATE TABLE capture_8 (
	-- What was kept of a file's procedures: read when the file is gone.
	image INTEGER NOT NULL REFERENCES image (id),
	part INTEGER NOT NULL,		-- 1, 2, 3, ...: each adds procedures
	covers BLOB NOT NULL,		-- offsets that it answers for; see cpi-db(5)
	data BLOB NOT NULL,		-- symbols, code, lines; see cpi-db(5)
	PRIMARY KEY (image, part)
) STRICT;
INSERT INTO capture_8 SELECT image, part, covers, data FROM capture ORDER BY image, part;
DROP TABLE capture;
ALTER TABLE capture_8 RENAME TO capture;

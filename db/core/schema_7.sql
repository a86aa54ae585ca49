-- SPDX-License-Identifier: GPL-2.0-or-later
-- schema_7.sql - what version 7 of the database adds to schema_6.sql

CREATE TABLE access_set (
	-- Which data was touched in windows, of those that began in an image.
	epoch INTEGER NOT NULL REFERENCES epoch (id),
	image INTEGER NOT NULL REFERENCES image (id),
	stream INTEGER NOT NULL REFERENCES stream (id),
	context INTEGER NOT NULL REFERENCES context (id),
	seen INTEGER NOT NULL,		-- how many accesses there were
	kept INTEGER NOT NULL,		-- how many of the instructions that are in accesses
	accesses BLOB NOT NULL,		-- encoded, images as stack_image; see cpi-db(5)
	PRIMARY KEY (epoch, image, stream, context)
) STRICT, WITHOUT ROWID;

-- SPDX-License-Identifier: GPL-2.0-or-later
-- schema_6.sql - what version 6 of the database adds to schema_5.sql

CREATE TABLE mark (
	-- An event on a machine's time line, such as a deployment; it begins no epoch.
	host TEXT NOT NULL,		-- the machine, as in platform
	at_ns INTEGER NOT NULL,
	text TEXT NOT NULL,
	PRIMARY KEY (host, at_ns, text)
) STRICT, WITHOUT ROWID;

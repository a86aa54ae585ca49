-- SPDX-License-Identifier: GPL-2.0-or-later
-- schema_9.sql - what version 9 of the database adds to schema_8.sql

CREATE TABLE container (
	-- What a container runtime calls a container, for as long as the database has it.
	id TEXT PRIMARY KEY,		-- the runtime's, 64 hexadecimal digits
	name TEXT NOT NULL,		-- "namespace/pod/container", or a name alone
	seen_ns INTEGER NOT NULL	-- when the name was last reported, in ns since 1970
) STRICT, WITHOUT ROWID;

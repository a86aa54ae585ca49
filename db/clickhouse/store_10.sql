-- SPDX-License-Identifier: GPL-2.0-or-later
-- store_10.sql - version 10: names of containers
--
-- context: its path has the container's id, the runtime's, of 64 hexadecimal digits. seen_ns:
-- when the name was last reported on its machine before it was sent.

CREATE TABLE IF NOT EXISTS container (
	context UInt64,
	id String,
	name String,
	seen_ns UInt64
) ENGINE = ReplacingMergeTree ORDER BY (context, id);


-- SPDX-License-Identifier: GPL-2.0-or-later
-- store_7.sql - version 7: which data windows touched
--
-- Sets that machines encoded, as in table access_set of their databases: cpi-db(5).
-- Shipments of an older cpi-ship have no rows of it.

CREATE TABLE IF NOT EXISTS access_set (
	host UInt32,
	at DateTime,
	nr UInt16,
	image UInt64,
	stream UInt64,
	context UInt64,
	seen UInt64,
	kept UInt64,
	accesses String
) ENGINE = MergeTree PARTITION BY toDate(at) ORDER BY (host, at, nr, image, stream, context);

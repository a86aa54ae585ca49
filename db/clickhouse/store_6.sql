-- SPDX-License-Identifier: GPL-2.0-or-later
-- store_6.sql - version 6: the identity of a store, its settings, and rejected shipments
--
-- cpi-ship remembers what it sent. It asks for the id of the store before each batch, so
-- that it notices another store at the same address. 'cpi fleet init' inserts one id.

CREATE TABLE IF NOT EXISTS identity (
	id UInt64,
	made DateTime DEFAULT now()
) ENGINE = MergeTree ORDER BY id;

-- The newest value of a name counts. quota: rows of one host and day; keep: days. 0: none.
CREATE TABLE IF NOT EXISTS setting (
	name String,
	value UInt64,
	at_ns UInt64
) ENGINE = MergeTree ORDER BY (name, at_ns);

-- Shipments that 'cpi fleet roll' rejected, each also in table void. nr_rows is what does
-- not count because of that.
CREATE TABLE IF NOT EXISTS rejected (
	host UInt32,
	at DateTime,
	nr UInt16,
	reason String,
	nr_rows UInt64
) ENGINE = ReplacingMergeTree PARTITION BY toDate(at) ORDER BY (host, at, nr);

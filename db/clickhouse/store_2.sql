-- SPDX-License-Identifier: GPL-2.0-or-later
-- store_2.sql - version 2: what tells hosts apart
--
-- A row for each shipment, from the options of cpi-ship and the machine's marks: cpi-ship(8).
-- Shipments of an older cpi-ship have no row: all three are then the empty string.

CREATE TABLE IF NOT EXISTS origin (
	host UInt32,
	at DateTime,
	nr UInt16,
	cluster String,
	machine String,
	release String
) ENGINE = MergeTree PARTITION BY toDate(at) ORDER BY (host, at, nr);

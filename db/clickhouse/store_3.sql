-- SPDX-License-Identifier: GPL-2.0-or-later
-- store_3.sql - version 3 of a fleet's store: how the columns of many rows are compressed
--
-- Statements with CODEC are left out for servers that do not know the word (before 20);
-- there the server's own setting <compression> decides. Rows that are there are
-- compressed anew when the server merges them.
--
-- Rows of a profile are sorted by offset, then by second and host. So the column at has
-- runs of equal values, the column host grows in small steps, and counts are small.

ALTER TABLE profile
	MODIFY COLUMN host UInt32 CODEC(Delta, ZSTD(1)),
	MODIFY COLUMN at DateTime CODEC(Delta, ZSTD(1)),
	MODIFY COLUMN nr UInt16 CODEC(ZSTD(1)),
	MODIFY COLUMN image UInt64 CODEC(ZSTD(1)),
	MODIFY COLUMN stream UInt64 CODEC(ZSTD(1)),
	MODIFY COLUMN context UInt64 CODEC(ZSTD(1)),
	MODIFY COLUMN counter UInt8 CODEC(ZSTD(1)),
	MODIFY COLUMN offset UInt64 CODEC(Delta, ZSTD(1)),
	MODIFY COLUMN n UInt64 CODEC(T64, ZSTD(1));

ALTER TABLE comm
	MODIFY COLUMN host UInt32 CODEC(Delta, ZSTD(1)),
	MODIFY COLUMN at DateTime CODEC(Delta, ZSTD(1)),
	MODIFY COLUMN comm String CODEC(ZSTD(1)),
	MODIFY COLUMN image UInt64 CODEC(ZSTD(1)),
	MODIFY COLUMN stream UInt64 CODEC(ZSTD(1)),
	MODIFY COLUMN n UInt64 CODEC(T64, ZSTD(1));

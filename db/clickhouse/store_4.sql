-- SPDX-License-Identifier: GPL-2.0-or-later
-- store_4.sql - version 4 of a fleet's store: sums of whole days, without hosts
--
-- Rows of a lot count once its row in table day is there. nr and hash are of the
-- addresses of the complete shipments that it has added up (daysums.h): a report takes a
-- lot for a day if it selects exactly these shipments of the day, and else their rows.

CREATE TABLE IF NOT EXISTS day (
	day Date,
	lot UInt64,
	nr UInt64,
	hash UInt64,
	made DateTime DEFAULT now()
) ENGINE = MergeTree ORDER BY (day, lot);

CREATE TABLE IF NOT EXISTS day_profile (
	day Date,
	lot UInt64,
	image UInt64,
	stream UInt64,
	context UInt64,
	counter UInt8,
	offset UInt64,
	n UInt64
) ENGINE = MergeTree PARTITION BY day ORDER BY (image, stream, context, counter, offset, lot);

CREATE TABLE IF NOT EXISTS day_comm (
	day Date,
	lot UInt64,
	comm String,
	image UInt64,
	stream UInt64,
	n UInt64
) ENGINE = MergeTree PARTITION BY day ORDER BY (comm, image, stream, lot);

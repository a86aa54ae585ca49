-- SPDX-License-Identifier: GPL-2.0-or-later
-- store_5.sql - version 5: thinned samples, and sums of hours
--
-- Of profile's rows with counter 0 and context 0. At each level a sample of the level
-- before is kept with a probability of 1/5: n is drawn binomially by the machine that
-- ships it. So n * 5^level estimates the sum of any rows, and levels below THIN_FIRST
-- (thin.h) are left out. A row has the address of its shipment, as in profile.
--
-- Days and hours of sums are those of UTC, so that an hour lies in one day. Sums of days
-- were by the server's zone until here: 'cpi fleet roll' makes them again.

-- Shipments of an older cpi-ship have no thinned rows: thinned is 0.

ALTER TABLE epoch ADD COLUMN thinned UInt8;

CREATE TABLE IF NOT EXISTS thin_profile (
	level UInt8,
	host UInt32,
	at DateTime,
	nr UInt16,
	image UInt64,
	stream UInt64,
	offset UInt64,
	n UInt64
) ENGINE = MergeTree PARTITION BY toDate(at)
ORDER BY (level, image, stream, offset, at, host, nr);

ALTER TABLE thin_profile
	MODIFY COLUMN host UInt32 CODEC(Delta, ZSTD(1)),
	MODIFY COLUMN at DateTime CODEC(Delta, ZSTD(1)),
	MODIFY COLUMN offset UInt64 CODEC(Delta, ZSTD(1)),
	MODIFY COLUMN n UInt64 CODEC(T64, ZSTD(1));

-- Lots that were begun: one that is in neither day nor hour later is removed.
CREATE TABLE IF NOT EXISTS lot (
	lot UInt64,
	made DateTime DEFAULT now()
) ENGINE = MergeTree ORDER BY lot;

-- Lots of hours, as table day has them of days. hour counts from 1970.
CREATE TABLE IF NOT EXISTS hour (
	hour UInt32,
	lot UInt64,
	nr UInt64,
	hash UInt64,
	made DateTime DEFAULT now()
) ENGINE = MergeTree ORDER BY (hour, lot);

-- Samples by procedure: start is that of the captured symbol that covers an offset, or
-- the offset itself. clock is that of the machines in Hz; 0: not known, or not needed.
CREATE TABLE IF NOT EXISTS hour_place (
	hour UInt32,
	lot UInt64,
	clock UInt64,
	image UInt64,
	stream UInt64,
	start UInt64,
	n UInt64
) ENGINE = MergeTree PARTITION BY toDate(toUInt16(intDiv(hour, 24)))
ORDER BY (hour, lot, image, start);

CREATE TABLE IF NOT EXISTS day_place (
	day Date,
	lot UInt64,
	clock UInt64,
	image UInt64,
	stream UInt64,
	start UInt64,
	n UInt64
) ENGINE = MergeTree PARTITION BY day ORDER BY (day, lot, image, start);

TRUNCATE TABLE day;

TRUNCATE TABLE day_profile;

TRUNCATE TABLE day_comm;

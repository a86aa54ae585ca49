-- SPDX-License-Identifier: GPL-2.0-or-later
-- schema_3.sql - what version 3 of the database adds to schema_2.sql
-- Versions 2 that were made in between have the tables of windows.

CREATE TABLE IF NOT EXISTS window_set (
	-- What was executed behind sampled instructions, of those that began in an image.
	epoch INTEGER NOT NULL REFERENCES epoch (id),
	image INTEGER NOT NULL REFERENCES image (id),
	stream INTEGER NOT NULL REFERENCES stream (id),
	context INTEGER NOT NULL REFERENCES context (id),
	seen INTEGER NOT NULL,		-- how many there were
	kept INTEGER NOT NULL,		-- how many of them, by lot, are in windows
	windows BLOB NOT NULL,		-- encoded, images as stack_image; see cpi-db(5)
	PRIMARY KEY (epoch, image, stream, context)
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS window_tally (
	-- As tally, of the streams that windows are sampled by.
	epoch INTEGER NOT NULL REFERENCES epoch (id),
	stream INTEGER NOT NULL REFERENCES stream (id),
	received INTEGER NOT NULL,
	stored INTEGER NOT NULL,	-- seen of its sets of context ''
	not_delivered INTEGER NOT NULL,
	enabled_ns INTEGER NOT NULL,
	running_ns INTEGER NOT NULL,
	throttled INTEGER NOT NULL,
	PRIMARY KEY (epoch, stream)
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS window_loss (
	-- As loss, of these streams.
	epoch INTEGER NOT NULL REFERENCES epoch (id),
	stream INTEGER NOT NULL REFERENCES stream (id),
	class INTEGER NOT NULL,
	name TEXT NOT NULL,
	n INTEGER NOT NULL,
	PRIMARY KEY (epoch, stream, class, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE anchor (
	-- How often instructions ran that had a breakpoint for a while.
	epoch INTEGER NOT NULL REFERENCES epoch (id),
	image INTEGER NOT NULL REFERENCES image (id),
	start INTEGER NOT NULL,		-- image offset of the instruction
	comm TEXT NOT NULL,		-- command that had it
	visits INTEGER NOT NULL,	-- how often one was there
	hits INTEGER NOT NULL,		-- how often the instruction ran then
	enabled_ns INTEGER NOT NULL,	-- how long that was
	running_ns INTEGER NOT NULL,	-- CPU time of the thread in that time
	hit_ns INTEGER NOT NULL,	-- ... which the breakpoint took
	rate REAL NOT NULL,		-- Σ over visits: hits per second without hit_ns
	squares REAL NOT NULL,		-- Σ of that, squared
	PRIMARY KEY (epoch, image, start, comm)
) STRICT, WITHOUT ROWID;

CREATE TABLE anchor_loss (
	-- Visits that told of nothing.
	epoch INTEGER NOT NULL REFERENCES epoch (id),
	name TEXT NOT NULL,		-- cpid(8), "ANCHORS"
	n INTEGER NOT NULL,
	PRIMARY KEY (epoch, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE anchor_tally (
	-- All visits: those of its anchors, and those lost.
	epoch INTEGER PRIMARY KEY REFERENCES epoch (id),
	visits INTEGER NOT NULL
) STRICT;

-- SPDX-License-Identifier: GPL-2.0-or-later
-- schema_2.sql - what version 2 of the database adds to schema.sql

CREATE INDEX epoch_from ON epoch (from_ns);

CREATE INDEX flush_epoch ON flush (epoch);

CREATE TABLE roll (
	-- What retention is at work on: an epoch's rows go, a few at a time.
	epoch INTEGER PRIMARY KEY REFERENCES epoch (id),
	target INTEGER REFERENCES epoch (id), -- where to; NULL: nowhere
	image INTEGER NOT NULL,		-- of the target itself: done up to here
	context INTEGER NOT NULL	-- and here
) STRICT;

CREATE TABLE rolled (
	-- The epochs that one was rolled up from, by event.
	epoch INTEGER NOT NULL REFERENCES epoch (id),
	event TEXT NOT NULL,
	from_ns INTEGER NOT NULL,
	to_ns INTEGER NOT NULL,
	time REAL NOT NULL,		-- samples * mean_period, not of idle CPUs
	PRIMARY KEY (epoch, event, from_ns)
) STRICT, WITHOUT ROWID;

CREATE TABLE spread (
	-- How the time of a hot procedure varied among those epochs.
	epoch INTEGER NOT NULL REFERENCES epoch (id),
	event TEXT NOT NULL,
	image INTEGER NOT NULL REFERENCES image (id),
	start INTEGER NOT NULL,		-- image offset
	size INTEGER NOT NULL,		-- bytes
	n INTEGER NOT NULL,		-- epochs, with samples of it or without
	sum REAL NOT NULL,		-- of its time in each
	squares REAL NOT NULL,		-- of that, squared
	cross REAL NOT NULL,		-- of that, times the epoch's time
	PRIMARY KEY (epoch, event, image, start)
) STRICT, WITHOUT ROWID;

-- Whose gap it is: a database may have epochs of several machines.
ALTER TABLE gap ADD COLUMN host TEXT NOT NULL DEFAULT '';
UPDATE gap SET host = coalesce((SELECT p.host FROM run r JOIN platform p
	ON p.id = r.platform WHERE r.from_ns <= gap.from_ns
	ORDER BY r.from_ns DESC LIMIT 1), '');

CREATE TABLE capture (
	-- What was kept of a file's procedures: read when the file is gone.
	image INTEGER NOT NULL REFERENCES image (id),
	part INTEGER NOT NULL,		-- 1, 2, 3, ...: each adds procedures
	covers BLOB NOT NULL,		-- offsets that it answers for; see cpi-db(5)
	data BLOB NOT NULL,		-- symbols, code, lines; see cpi-db(5)
	PRIMARY KEY (image, part)
) STRICT, WITHOUT ROWID;

CREATE TABLE instruction (
	-- What a trace calls the instructions that it ran.
	image INTEGER NOT NULL REFERENCES image (id),
	start INTEGER NOT NULL,		-- image offset
	text TEXT NOT NULL,
	PRIMARY KEY (image, start)
) STRICT, WITHOUT ROWID;

CREATE TABLE edge (
	-- Where control went, of branch stacks.
	epoch INTEGER NOT NULL REFERENCES epoch (id),
	image INTEGER NOT NULL REFERENCES image (id), -- that it came from
	target INTEGER NOT NULL REFERENCES image (id), -- that it went to
	stream INTEGER NOT NULL REFERENCES stream (id),
	context INTEGER NOT NULL REFERENCES context (id),
	kind INTEGER NOT NULL,		-- 0 taken branches, 1 runs between two
	total INTEGER NOT NULL,		-- how often, all together
	edges BLOB NOT NULL,		-- encoded; see cpi-db(5)
	PRIMARY KEY (epoch, image, target, stream, context, kind)
) STRICT, WITHOUT ROWID;

CREATE TABLE stack (
	-- Call stacks: a sample is in one of context '' and the kind comm.
	epoch INTEGER NOT NULL REFERENCES epoch (id),
	stream INTEGER NOT NULL REFERENCES stream (id),
	context INTEGER NOT NULL REFERENCES context (id),
	total INTEGER NOT NULL,		-- sum of all counts in tree
	tree BLOB NOT NULL,		-- encoded; see cpi-db(5)
	PRIMARY KEY (epoch, stream, context)
) STRICT, WITHOUT ROWID;

CREATE TABLE stack_image (
	-- What an epoch's trees and windows call an image.
	epoch INTEGER NOT NULL REFERENCES epoch (id),
	nr INTEGER NOT NULL,		-- 0, 1, 2, ...
	image INTEGER NOT NULL REFERENCES image (id),
	PRIMARY KEY (epoch, nr)
) STRICT, WITHOUT ROWID;

CREATE TABLE stack_tally (
	-- As tally, of the streams that stacks are sampled by.
	epoch INTEGER NOT NULL REFERENCES epoch (id),
	stream INTEGER NOT NULL REFERENCES stream (id),
	received INTEGER NOT NULL,
	stored INTEGER NOT NULL,	-- total of its stacks: '' and kind comm
	not_delivered INTEGER NOT NULL,
	enabled_ns INTEGER NOT NULL,
	running_ns INTEGER NOT NULL,
	throttled INTEGER NOT NULL,
	PRIMARY KEY (epoch, stream)
) STRICT, WITHOUT ROWID;

CREATE TABLE stack_loss (
	-- As loss, of these streams.
	epoch INTEGER NOT NULL REFERENCES epoch (id),
	stream INTEGER NOT NULL REFERENCES stream (id),
	class INTEGER NOT NULL,
	name TEXT NOT NULL,
	n INTEGER NOT NULL,
	PRIMARY KEY (epoch, stream, class, name)
) STRICT, WITHOUT ROWID;

-- SPDX-License-Identifier: GPL-2.0-or-later
-- schema_4.sql - what version 4 of the database changes of schema_3.sql

-- Counts of breakpoints, which windows are as exact without.
DROP TABLE anchor;
DROP TABLE anchor_loss;
DROP TABLE anchor_tally;

-- One table for all that streams sample.
ALTER TABLE tally RENAME TO tally_3;
ALTER TABLE loss RENAME TO loss_3;

CREATE TABLE tally (
	-- received = stored + the losses of the same epoch, kind and stream.
	epoch INTEGER NOT NULL REFERENCES epoch (id),
	kind INTEGER NOT NULL,		-- 0 samples, 1 stacks, 2 windows
	stream INTEGER NOT NULL REFERENCES stream (id),
	received INTEGER NOT NULL,	-- samples at the handler's entry
	stored INTEGER NOT NULL,	-- total of profiles: kind 0, context 0; of
					-- stacks: '' and kind comm; windows seen:
					-- context 0
	not_delivered INTEGER NOT NULL,	-- events / mean_period - received
	enabled_ns INTEGER NOT NULL,	-- sum over CPUs: the event was wanted
	running_ns INTEGER NOT NULL,	-- sum over CPUs: it was counting
	throttled INTEGER NOT NULL,	-- how often the kernel throttled it
	PRIMARY KEY (epoch, kind, stream)
) STRICT, WITHOUT ROWID;

CREATE TABLE loss (
	-- Samples that are not stored, by why.
	epoch INTEGER NOT NULL REFERENCES epoch (id),
	kind INTEGER NOT NULL,		-- as in tally
	stream INTEGER NOT NULL REFERENCES stream (id),
	class INTEGER NOT NULL,		-- 0 unknown: sampled, but no image; 1 lost
	name TEXT NOT NULL,		-- ambiguous, map_gap, ring_lost, ...
	n INTEGER NOT NULL,
	PRIMARY KEY (epoch, kind, stream, class, name)
) STRICT, WITHOUT ROWID;

INSERT INTO tally SELECT epoch, 0, stream, received, stored, not_delivered, enabled_ns,
	running_ns, throttled FROM tally_3;
INSERT INTO tally SELECT epoch, 1, stream, received, stored, not_delivered, enabled_ns,
	running_ns, throttled FROM stack_tally;
INSERT INTO tally SELECT epoch, 2, stream, received, stored, not_delivered, enabled_ns,
	running_ns, throttled FROM window_tally;
INSERT INTO loss SELECT epoch, 0, stream, class, name, n FROM loss_3;
INSERT INTO loss SELECT epoch, 1, stream, class, name, n FROM stack_loss;
INSERT INTO loss SELECT epoch, 2, stream, class, name, n FROM window_loss;
DROP TABLE tally_3;
DROP TABLE loss_3;
DROP TABLE stack_tally;
DROP TABLE stack_loss;
DROP TABLE window_tally;
DROP TABLE window_loss;

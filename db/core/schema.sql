-- SPDX-License-Identifier: GPL-2.0-or-later
-- schema.sql - version 1 of the database; cpi-db(5) explains it to its readers
--
-- Never changed once released: a later version is a further step in schema.c.
-- SQLite keeps this text, comments included, in every database (".schema").
-- Times are ns since 1970 (UTC). Offsets and sizes are unsigned: a negative
-- number is 2^64 less than what it stands for. Keys are in the order in which a
-- flush writes, so that it touches the pages of its own epoch only.

CREATE TABLE platform (
	-- A machine as one boot saw it.
	id INTEGER PRIMARY KEY,
	host TEXT NOT NULL,		-- its name
	arch TEXT NOT NULL,		-- uname -m
	cpu TEXT NOT NULL,		-- model name
	release TEXT NOT NULL,		-- uname -r
	boot_id TEXT NOT NULL,		-- /proc/sys/kernel/random/boot_id
	clock_hz INTEGER NOT NULL,	-- cycles = ns * clock_hz / 1e9
	nr_cpus INTEGER NOT NULL,
	UNIQUE (boot_id, host, arch, cpu, release, clock_hz, nr_cpus)
) STRICT;

CREATE TABLE run (
	-- One life of a collector.
	id INTEGER PRIMARY KEY,
	platform INTEGER NOT NULL REFERENCES platform (id),
	from_ns INTEGER NOT NULL,
	to_ns INTEGER NOT NULL,		-- its end, or that of its newest flush
	state INTEGER NOT NULL		-- 0 not ended, 1 ended cleanly, 2 died
) STRICT;

CREATE TABLE epoch (
	-- An interval that profiles are kept for; every other table names one.
	id INTEGER PRIMARY KEY,
	run INTEGER NOT NULL REFERENCES run (id),
	label TEXT NOT NULL,		-- '' for none
	from_ns INTEGER NOT NULL,
	to_ns INTEGER NOT NULL,		-- its end, or that of its newest flush
	open INTEGER NOT NULL,		-- 1 while flushes go to it
	uncertainty_ms INTEGER NOT NULL	-- how sharp its beginning is
) STRICT;

CREATE TABLE flush (
	-- An interval that is stored, whole and once.
	run INTEGER NOT NULL REFERENCES run (id),
	seq INTEGER NOT NULL,		-- 1, 2, 3, ... within the run
	epoch INTEGER NOT NULL REFERENCES epoch (id),
	from_ns INTEGER NOT NULL,
	to_ns INTEGER NOT NULL,
	duration_ns INTEGER NOT NULL,	-- by a clock that does not step
	received INTEGER NOT NULL,	-- samples, all streams: stored + lost
	stored INTEGER NOT NULL,	-- of these, counted in profiles
	lost INTEGER NOT NULL,		-- of these, counted in losses
	PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE gap (
	-- A time without samples that no epoch tells of.
	id INTEGER PRIMARY KEY,
	from_ns INTEGER NOT NULL,
	to_ns INTEGER NOT NULL,		-- not before from_ns
	reason TEXT NOT NULL
) STRICT;

CREATE TABLE stream (
	-- An event as one source samples it at one period: never mixed.
	id INTEGER PRIMARY KEY,
	event TEXT NOT NULL,		-- as perf names it
	source TEXT NOT NULL,		-- perf, kmod, bpf, tick, import
	cpu_type TEXT NOT NULL,		-- '' where all cores are of one kind
	unit TEXT NOT NULL,		-- ns, cycles, events
	mean_period INTEGER NOT NULL,	-- units for each sample
	landing INTEGER NOT NULL,	-- 0 head, 1 after-group, 2 precise
	UNIQUE (event, source, cpu_type, unit, mean_period, landing)
) STRICT;

CREATE TABLE image (
	-- What offsets count in.
	id INTEGER PRIMARY KEY,		-- 0 stands for unknown ones
	kind INTEGER NOT NULL,		-- 0 file, 1 kernel, 2 module, 3 vdso,
					-- 4 idle, 5 bpf
	name TEXT NOT NULL,		-- path as the process saw it, [kernel], ...
	build_id BLOB NOT NULL,		-- x'' when it has none
	content BLOB NOT NULL,		-- SHA-256 over its code; x'' when not known
	device INTEGER NOT NULL,	-- of the file, like the next three;
	inode INTEGER NOT NULL,		-- 0 when not known
	size INTEGER NOT NULL,		-- bytes
	mtime_ns INTEGER NOT NULL
) STRICT;

-- The file's own data tell images apart only where neither id nor hash does.
CREATE UNIQUE INDEX image_identity ON image (
	name, kind, build_id, content,
	iif(build_id = x'' AND content = x'', device, 0),
	iif(build_id = x'' AND content = x'', inode, 0),
	iif(build_id = x'' AND content = x'', size, 0),
	iif(build_id = x'' AND content = x'', mtime_ns, 0)
);

INSERT INTO image VALUES (0, 0, '[unknown]', x'', x'', 0, 0, 0, 0);

CREATE TABLE context (
	-- Whom a profile is of.
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE	-- '' for everybody, else comm=NAME
) STRICT;

INSERT INTO context VALUES (0, '');

CREATE TABLE profile (
	-- Counts by offset.
	epoch INTEGER NOT NULL REFERENCES epoch (id),
	image INTEGER NOT NULL REFERENCES image (id),
	stream INTEGER NOT NULL REFERENCES stream (id),
	context INTEGER NOT NULL REFERENCES context (id),
	kind INTEGER NOT NULL,		-- 0 count, 1 outcome of conditional jumps
	total INTEGER NOT NULL,		-- sum of all values in counts
	counts BLOB NOT NULL,		-- encoded; see cpi-db(5)
	PRIMARY KEY (epoch, image, stream, context, kind)
) STRICT, WITHOUT ROWID;

CREATE TABLE tally (
	-- received = stored + the losses of the same epoch and stream.
	epoch INTEGER NOT NULL REFERENCES epoch (id),
	stream INTEGER NOT NULL REFERENCES stream (id),
	received INTEGER NOT NULL,	-- samples at the handler's entry
	stored INTEGER NOT NULL,	-- total of its profiles: kind 0, context 0
	not_delivered INTEGER NOT NULL,	-- events / mean_period - received
	enabled_ns INTEGER NOT NULL,	-- sum over CPUs: the event was wanted
	running_ns INTEGER NOT NULL,	-- sum over CPUs: it was counting
	throttled INTEGER NOT NULL,	-- how often the kernel throttled it
	PRIMARY KEY (epoch, stream)
) STRICT, WITHOUT ROWID;

CREATE TABLE loss (
	-- Samples that no profile counts, by why.
	epoch INTEGER NOT NULL REFERENCES epoch (id),
	stream INTEGER NOT NULL REFERENCES stream (id),
	class INTEGER NOT NULL,		-- 0 unknown: sampled, but no image; 1 lost
	name TEXT NOT NULL,		-- ambiguous, map_gap, ring_lost, ...
	n INTEGER NOT NULL,
	PRIMARY KEY (epoch, stream, class, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE comm (
	-- Totals by command, whether or not profiles are kept by context.
	epoch INTEGER NOT NULL REFERENCES epoch (id),
	comm TEXT NOT NULL,		-- of the process's leader
	image INTEGER NOT NULL REFERENCES image (id),
	stream INTEGER NOT NULL REFERENCES stream (id),
	n INTEGER NOT NULL,
	PRIMARY KEY (epoch, comm, image, stream)
) STRICT, WITHOUT ROWID;

CREATE TABLE symbol (
	-- Names that were captured because they would have been gone later.
	image INTEGER NOT NULL REFERENCES image (id),
	start INTEGER NOT NULL,		-- image offset
	size INTEGER NOT NULL,		-- bytes
	name TEXT NOT NULL,
	PRIMARY KEY (image, start)
) STRICT, WITHOUT ROWID;

CREATE TABLE code (
	-- Code that was captured for the same reason.
	image INTEGER NOT NULL REFERENCES image (id),
	start INTEGER NOT NULL,		-- image offset; a vDSO's 0 is an ELF file
	bytes BLOB NOT NULL,
	PRIMARY KEY (image, start)
) STRICT, WITHOUT ROWID;

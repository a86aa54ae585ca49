-- SPDX-License-Identifier: GPL-2.0-or-later
-- store_1.sql - version 1 of a fleet's store; doc/fleet.md explains it to its readers
--
-- Statements end with a semicolon and an empty line. All of it is understood by
-- ClickHouse 18.16 and later. Times that end with _ns are ns since 1970 (UTC); offsets are
-- unsigned. Ids of images, streams and contexts are the first 63 bits of SHA-256 over what
-- makes each thing itself, so every machine gives it the same id; 0 is [unknown] or all.
--
-- (host, at, nr) is the address of a shipment: one epoch of a machine. Its rows count
-- once its row in table epoch is there and no row in table void takes it back. Rows of
-- shipments that were never completed stay, and are never read.

CREATE TABLE IF NOT EXISTS version (
	version UInt32,
	made DateTime DEFAULT now()
) ENGINE = MergeTree ORDER BY version;

-- Numbers of hosts. One that several names have is nobody's.
CREATE TABLE IF NOT EXISTS host (
	number UInt32,
	name String,
	made DateTime DEFAULT now()
) ENGINE = MergeTree ORDER BY (name, number);

-- Addresses that a shipper took. One with several lots was taken twice: nobody uses it.
CREATE TABLE IF NOT EXISTS attempt (
	host UInt32,
	at DateTime,
	nr UInt16,
	lot UInt64,
	made DateTime DEFAULT now()
) ENGINE = MergeTree PARTITION BY toDate(at) ORDER BY (host, at, nr, lot);

-- Complete shipments: the ledger. received = stored + lost in each.
CREATE TABLE IF NOT EXISTS epoch (
	host UInt32,
	at DateTime,
	nr UInt16,
	id Int64,
	run_from_ns UInt64,
	run_to_ns UInt64,
	run_state UInt8,
	first_flush UInt64,
	last_flush UInt64,
	label String,
	from_ns UInt64,
	to_ns UInt64,
	uncertainty_ms UInt32,
	name String,
	arch String,
	cpu String,
	release String,
	boot_id String,
	clock_hz UInt64,
	nr_cpus UInt32,
	received UInt64,
	stored UInt64,
	lost UInt64,
	nr_rows UInt64,
	version String,
	made DateTime DEFAULT now()
) ENGINE = MergeTree PARTITION BY toDate(at) ORDER BY (host, at, nr);

-- Shipments that another one contains: an epoch that was rolled up meanwhile, or that two
-- shippers sent.
CREATE TABLE IF NOT EXISTS void (
	host UInt32,
	at DateTime,
	nr UInt16,
	made DateTime DEFAULT now()
) ENGINE = MergeTree PARTITION BY toDate(at) ORDER BY (host, at, nr);

-- What a machine removed before it could be shipped.
CREATE TABLE IF NOT EXISTS dropped (
	host UInt32,
	at DateTime,
	boot_id String,
	run_from_ns UInt64,
	first_flush UInt64,
	last_flush UInt64
) ENGINE = ReplacingMergeTree ORDER BY (host, boot_id, run_from_ns, first_flush);

CREATE TABLE IF NOT EXISTS gap (
	host UInt32,
	name String,
	from_ns UInt64,
	to_ns UInt64,
	reason String
) ENGINE = ReplacingMergeTree ORDER BY (host, name, from_ns, to_ns, reason);

CREATE TABLE IF NOT EXISTS mark (
	host UInt32,
	name String,
	at_ns UInt64,
	text String
) ENGINE = ReplacingMergeTree ORDER BY (host, name, at_ns, text);

CREATE TABLE IF NOT EXISTS image (
	id UInt64,
	name String,
	kind UInt8,
	build_id String,
	content String,
	device UInt64,
	inode UInt64,
	size UInt64,
	mtime_ns UInt64
) ENGINE = ReplacingMergeTree ORDER BY id;

CREATE TABLE IF NOT EXISTS stream (
	id UInt64,
	event String,
	source String,
	cpu_type String,
	unit String,
	mean_period UInt64,
	landing UInt8
) ENGINE = ReplacingMergeTree ORDER BY id;

CREATE TABLE IF NOT EXISTS context (
	id UInt64,
	name String
) ENGINE = ReplacingMergeTree ORDER BY id;

-- Names, code and captures of images: of any machine that had them.
CREATE TABLE IF NOT EXISTS symbol (
	image UInt64,
	start UInt64,
	size UInt64,
	name String
) ENGINE = ReplacingMergeTree ORDER BY (image, start);

CREATE TABLE IF NOT EXISTS code (
	image UInt64,
	start UInt64,
	bytes String
) ENGINE = ReplacingMergeTree ORDER BY (image, start);

CREATE TABLE IF NOT EXISTS capture (
	image UInt64,
	id UInt64,
	part UInt64,
	covers String,
	data String
) ENGINE = ReplacingMergeTree ORDER BY (image, id);

CREATE TABLE IF NOT EXISTS instruction (
	image UInt64,
	start UInt64,
	text String
) ENGINE = ReplacingMergeTree ORDER BY (image, start);

-- counter: 0 samples, 1 not taken, 2 taken, 3 + i weight i (db/profile/profile.h)
CREATE TABLE IF NOT EXISTS profile (
	host UInt32,
	at DateTime,
	nr UInt16,
	image UInt64,
	stream UInt64,
	context UInt64,
	counter UInt8,
	offset UInt64,
	n UInt64
) ENGINE = MergeTree PARTITION BY toDate(at)
ORDER BY (image, stream, context, counter, offset, at, host, nr);

CREATE TABLE IF NOT EXISTS tally (
	host UInt32,
	at DateTime,
	nr UInt16,
	kind UInt8,
	stream UInt64,
	received UInt64,
	stored UInt64,
	not_delivered Int64,
	enabled_ns UInt64,
	running_ns UInt64,
	throttled UInt64
) ENGINE = MergeTree PARTITION BY toDate(at) ORDER BY (host, at, nr, kind, stream);

CREATE TABLE IF NOT EXISTS loss (
	host UInt32,
	at DateTime,
	nr UInt16,
	kind UInt8,
	stream UInt64,
	class UInt8,
	name String,
	n UInt64
) ENGINE = MergeTree PARTITION BY toDate(at) ORDER BY (host, at, nr, kind, stream, class, name);

CREATE TABLE IF NOT EXISTS comm (
	host UInt32,
	at DateTime,
	nr UInt16,
	comm String,
	image UInt64,
	stream UInt64,
	n UInt64
) ENGINE = MergeTree PARTITION BY toDate(at) ORDER BY (host, at, nr, comm, image, stream);

CREATE TABLE IF NOT EXISTS flush (
	host UInt32,
	at DateTime,
	nr UInt16,
	seq UInt64,
	from_ns UInt64,
	to_ns UInt64,
	duration_ns UInt64,
	received UInt64,
	stored UInt64,
	lost UInt64,
	merged UInt64
) ENGINE = MergeTree PARTITION BY toDate(at) ORDER BY (host, at, nr, seq);

-- Sets that machines encoded, as in their databases: cpi-db(5).
CREATE TABLE IF NOT EXISTS histogram (
	host UInt32,
	at DateTime,
	nr UInt16,
	image UInt64,
	stream UInt64,
	context UInt64,
	kind UInt8,
	total UInt64,
	counts String
) ENGINE = MergeTree PARTITION BY toDate(at) ORDER BY (host, at, nr, image);

CREATE TABLE IF NOT EXISTS edge (
	host UInt32,
	at DateTime,
	nr UInt16,
	image UInt64,
	target UInt64,
	stream UInt64,
	context UInt64,
	kind UInt8,
	total UInt64,
	edges String
) ENGINE = MergeTree PARTITION BY toDate(at) ORDER BY (host, at, nr, image, target);

CREATE TABLE IF NOT EXISTS stack (
	host UInt32,
	at DateTime,
	nr UInt16,
	stream UInt64,
	context UInt64,
	total UInt64,
	tree String
) ENGINE = MergeTree PARTITION BY toDate(at) ORDER BY (host, at, nr, stream, context);

CREATE TABLE IF NOT EXISTS stack_image (
	host UInt32,
	at DateTime,
	nr UInt16,
	number UInt32,
	image UInt64
) ENGINE = MergeTree PARTITION BY toDate(at) ORDER BY (host, at, nr, number);

CREATE TABLE IF NOT EXISTS window_set (
	host UInt32,
	at DateTime,
	nr UInt16,
	image UInt64,
	stream UInt64,
	context UInt64,
	seen UInt64,
	kept UInt64,
	windows String
) ENGINE = MergeTree PARTITION BY toDate(at) ORDER BY (host, at, nr, image, stream, context);

-- Of epochs that the machine had rolled up before they were shipped.
CREATE TABLE IF NOT EXISTS rolled (
	host UInt32,
	at DateTime,
	nr UInt16,
	event String,
	from_ns UInt64,
	to_ns UInt64,
	time Float64
) ENGINE = MergeTree PARTITION BY toDate(at) ORDER BY (host, at, nr, event, from_ns);

CREATE TABLE IF NOT EXISTS spread (
	host UInt32,
	at DateTime,
	nr UInt16,
	event String,
	image UInt64,
	start UInt64,
	size UInt64,
	n UInt64,
	sum Float64,
	squares Float64,
	cross Float64
) ENGINE = MergeTree PARTITION BY toDate(at) ORDER BY (host, at, nr, event, image, start);

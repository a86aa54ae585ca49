/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jitdump.h - perf's format for code that is made at run time, with its bytes
 *
 * A header, then records: code that was loaded or moved, how to unwind the frames of
 * what is loaded next, and others that are passed over. Written by the profiled
 * process: hostile input.
 */
#ifndef CPI_DAEMON_JITDUMP_H
#define CPI_DAEMON_JITDUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JITDUMP_HEADER_SIZE 40
/* A record without its code: this much is enough for jitdump_record(). */
#define JITDUMP_RECORD_MAX 4096

struct jitdump_header {
	uint32_t size;        /* where the records begin */
	uint32_t machine;     /* EM_… */
	bool has_other_clock; /* times are no CLOCK_MONOTONIC */
};

/* 0, or -CPI_EFORMAT. */
int jitdump_header(const void *data, size_t size, struct jitdump_header *out);

struct jitdump_record {
	enum jitdump_kind {
		JITDUMP_OTHER,
		JITDUMP_LOAD,
		JITDUMP_MOVE,
		JITDUMP_TABLES
	} kind;
	uint32_t size; /* of all of it, to the next record */
	uint64_t time_ns;
	uint64_t address, code_size;
	uint64_t old_address; /* of a move */
	const char *name;     /* of a load; ends with NUL, in the data */
	uint32_t code_at;     /* of a load: its bytes, from the record's beginning */
	/* Of tables: the .eh_frame, from the record's beginning; of no size: frame
	 * pointers are all there is. */
	uint32_t tables_at, tables_size;
};

/*
 * Reads a record's beginning from the first size bytes of it. 0, -EAGAIN when there is
 * too little for it yet, -CPI_ECORRUPT when nothing behind it can be read either.
 */
int jitdump_record(const void *data, size_t size, struct jitdump_record *out);

#endif

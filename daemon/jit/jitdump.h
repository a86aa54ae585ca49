/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jitdump.h - parses jitdumps: perf's format for code made at run time, with its bytes
 *
 * A dump is a header, then records. A record is code that was loaded or moved, or the
 * unwind tables of the code that is loaded next; others are skipped. The profiled
 * process writes the dump, so it is hostile input.
 */
#ifndef CPI_DAEMON_JITDUMP_H
#define CPI_DAEMON_JITDUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JITDUMP_HEADER_SIZE 40
/*
 * jitdump_record() needs at most these bytes of a record; they do not include its code.
 */
#define JITDUMP_RECORD_MAX 4096

struct jitdump_header {
	uint32_t size;        /* offset of the first record */
	uint32_t machine;     /* EM_… */
	bool has_other_clock; /* its times are not those of CLOCK_MONOTONIC */
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
	uint32_t size; /* of the record, up to the next one */
	uint64_t time_ns;
	uint64_t address, code_size;
	uint64_t old_address; /* of a move */
	const char *name;     /* of a load; ends with NUL, in the data */
	uint32_t code_at;     /* of a load: where its bytes are, from the begin of the
				 record */
	/*
	 * Of unwind tables: where .eh_frame is, from the begin of the record. Size 0:
	 * the code has only frame pointers.
	 */
	uint32_t tables_at, tables_size;
};

/*
 * Parses a record from its first size bytes. Returns 0; -EAGAIN if these are too few;
 * -CPI_ECORRUPT if neither it nor anything after it can be read.
 */
int jitdump_record(const void *data, size_t size, struct jitdump_record *out);

#endif

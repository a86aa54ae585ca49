/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jitmap.h - the addresses of a process's run-time code, and since when they are valid
 *
 * The process itself describes its code, in perf's formats; so use this only for
 * samples of this process. Addresses are reused, so each code object has the interval
 * in which it was added. Where code objects overlap, the later one is valid.
 */
#ifndef CPI_DAEMON_JITMAP_H
#define CPI_DAEMON_JITMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define JITMAP_MAX_CODES (1u << 17) /* code objects of one process */
#define JITMAP_MAX_NAME  255        /* bytes; longer names are cut */

struct jit_code {
	uint64_t start, end; /* addresses */
	uint64_t since_ns,
		known_ns;  /* it was added between these two times (monotonic) */
	uint64_t bytes_at; /* offset of its bytes in the process's jitdump; 0: not there
			    */
	uint64_t tables_at;   /* offset of its .eh_frame in the jitdump */
	uint32_t tables_size; /* size of its .eh_frame; 0: it has none */
	uint64_t offset;      /* offset in its image; 0 until the caller sets it */
	uint32_t name;        /* for jitmap_name() */
	uint32_t order;       /* in which it was added */
};

/* Starts as { 0 }. */
struct jitmap {
	struct jit_code *code; /* after jitmap_build(): sorted by start, then order */
	uint64_t *reach;       /* the highest end of code[0..i] */
	size_t nr, cap;
	size_t nr_built; /* how many of them are sorted and have a reach */
	uint32_t order;
	struct buf names; /* each ends with NUL */
};

void jitmap_fini(struct jitmap *m);

/*
 * Adds code, which jitmap_find() finds after the next jitmap_build(). Sets its members
 * name and order. Returns 0, -EINVAL if it is empty or has kernel addresses, -ENOMEM,
 * or -CPI_ELIMIT.
 */
int jitmap_add(struct jitmap *m, const struct jit_code *code, const char *name,
	       size_t len);

/*
 * Sorts in the new code, and removes code that was replaced before horizon_ns. Returns
 * 0 or -ENOMEM.
 */
int jitmap_build(struct jitmap *m, uint64_t horizon_ns);

/*
 * Finds the code that contained pc in [t0, t1], among the code of the last
 * jitmap_build(). If there was none at that time, code that was added later is used,
 * because maps are often written late. Returns 0, -ENOENT, or -EEXIST if there was more
 * than one.
 */
int jitmap_find(struct jitmap *m, uint64_t pc, uint64_t t0, uint64_t t1,
		struct jit_code **out);

/*
 * Finds the code that overlaps [start, end), among the code of the last jitmap_build(),
 * in the order in which it was added. Returns how many there are; 0 if more than nr
 * would have to be examined.
 */
size_t jitmap_overlapping(const struct jitmap *m, uint64_t start, uint64_t end,
			  const struct jit_code **out, size_t nr);

/*
 * The newest code that starts at an address, also if it was added after the last
 * jitmap_build(). NULL: there is none.
 */
const struct jit_code *jitmap_newest(const struct jitmap *m, uint64_t start);

const char *jitmap_name(const struct jitmap *m, const struct jit_code *code);
size_t jitmap_memory(const struct jitmap *m);

/*
 * Parses a line of /tmp/perf-PID.map without its newline, "START SIZE NAME" in
 * hexadecimal. Sets start and end of *code, and *name, which points into the line.
 * Returns 0 or -EINVAL.
 */
int jitmap_parse(const char *line, size_t len, struct jit_code *code, const char **name,
		 size_t *name_len);

#endif

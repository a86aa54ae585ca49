/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jitmap.h - where the code lies that a process made at run time, and since when
 *
 * What the process itself says of it, in perf's formats: nothing here is to be
 * believed of any other process. Addresses are used again, so code is kept with
 * the interval in which it came; what came later stands before what it covers.
 */
#ifndef CPI_DAEMON_JITMAP_H
#define CPI_DAEMON_JITMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define JITMAP_MAX_CODES (1u << 17) /* of one process */
#define JITMAP_MAX_NAME  255        /* bytes; longer names are cut */

struct jit_code {
	uint64_t start, end;         /* addresses */
	uint64_t since_ns, known_ns; /* it came between the two (monotonic) */
	uint64_t bytes_at;           /* in the process's jitdump; 0: not there */
	uint64_t tables_at;          /* likewise its .eh_frame, of ... */
	uint32_t tables_size;        /* ... so many bytes; 0: it has none */
	uint64_t offset;             /* in its image; 0 until the caller sets it */
	uint32_t name;               /* for jitmap_name() */
	uint32_t order;              /* in which it was added */
};

/* Starts as { 0 }. */
struct jitmap {
	struct jit_code *code; /* once built: by start, then order */
	uint64_t *reach;       /* the highest end of code[0..i] */
	size_t nr, cap;
	size_t nr_built; /* of these, in order and with a reach */
	uint32_t order;
	struct buf names; /* each ends with NUL */
};

void jitmap_fini(struct jitmap *m);

/*
 * Adds code that is found after the next jitmap_build(); its name field and order
 * are set here. 0, -EINVAL when it is empty or in the kernel's half, -ENOMEM, or
 * -CPI_ELIMIT.
 */
int jitmap_add(struct jitmap *m, const struct jit_code *code, const char *name,
	       size_t len);

/* Forgets what was replaced before horizon_ns and finds what is new. 0, -ENOMEM. */
int jitmap_build(struct jitmap *m, uint64_t horizon_ns);

/*
 * The code that held pc in [t0, t1], as far as it was built. What came later will do
 * when there was nothing before: maps are often written late. 0, -ENOENT, or -EEXIST
 * when that was more than one piece.
 */
int jitmap_find(struct jitmap *m, uint64_t pc, uint64_t t0, uint64_t t1,
		struct jit_code **out);

/*
 * The pieces that reach into [start, end), as far as they were built, in the order in
 * which they came: how many; 0 where more than nr have to be looked at.
 */
size_t jitmap_overlapping(const struct jitmap *m, uint64_t start, uint64_t end,
			  const struct jit_code **out, size_t nr);

/* The newest code, built or not, that starts at an address; NULL: there is none. */
const struct jit_code *jitmap_newest(const struct jitmap *m, uint64_t start);

const char *jitmap_name(const struct jitmap *m, const struct jit_code *code);
size_t jitmap_memory(const struct jitmap *m);

/*
 * Reads a line of /tmp/perf-PID.map, "START SIZE NAME" in hexadecimal, without its
 * newline: start and end of *code, and the name, which is in the line. 0 or -EINVAL.
 */
int jitmap_parse(const char *line, size_t len, struct jit_code *code, const char **name,
		 size_t *name_len);

#endif

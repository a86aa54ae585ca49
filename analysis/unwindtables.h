/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwindtables.h - what an image says of its stack frames, as libunwind asks for it
 *
 * The frame descriptions (.eh_frame: LSB 5.0, "Exception Frames") as they are in the
 * file, and a table of them by function. The file's own table (.eh_frame_hdr) is not
 * used: programs that are linked statically have none. They are hostile, and read by
 * address only.
 */
#ifndef CPI_ANALYSIS_UNWINDTABLES_H
#define CPI_ANALYSIS_UNWINDTABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/elffile.h"

struct unwindtables;

/*
 * Reads the tables of f, which is the tables' from success on. 0, -ENOENT where there
 * are none, -CPI_ELIMIT where they lie too far apart, or -ENOMEM.
 */
int unwindtables_open(struct elffile *f, struct unwindtables **out);
void unwindtables_close(struct unwindtables *t); /* accepts NULL */

size_t unwindtables_memory(const struct unwindtables *t);

/* The link-time address of a file offset; false where nothing is loaded from it. */
bool unwindtables_address_of(const struct unwindtables *t, uint64_t offset,
			     uint64_t *address);

/* Ascending by function; both count from unwindtables_base(), a link-time address. */
struct unwindtables_entry {
	int32_t function, fde;
};

uint64_t unwindtables_base(const struct unwindtables *t);
const struct unwindtables_entry *unwindtables_entries(const struct unwindtables *t,
						      size_t *nr);

/* Whether a link-time address is in what a handler of signals returns to. */
bool unwindtables_is_signal(const struct unwindtables *t, uint64_t address);

/*
 * The 8 bytes at a link-time address, of the descriptions or of the file's code and
 * constants. Beyond the descriptions' end is 0.
 */
bool unwindtables_read(const struct unwindtables *t, uint64_t address, uint64_t *word);

#endif

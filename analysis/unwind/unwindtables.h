/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwindtables.h - an image's frame descriptions, in the form that libunwind asks for
 *
 * The frame descriptions (.eh_frame: LSB 5.0, "Exception Frames") as they are in the
 * file, and a table of them by function. The file's own table (.eh_frame_hdr) is not
 * used, because statically linked programs have none. The descriptions are hostile and
 * are read only by address.
 */
#ifndef CPI_ANALYSIS_UNWINDTABLES_H
#define CPI_ANALYSIS_UNWINDTABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/image/elffile.h"

struct unwindtables;

/*
 * Reads the tables of f, and owns f after success. Returns 0, -ENOENT if there are
 * none, -CPI_ELIMIT if they lie too far apart, or -ENOMEM.
 */
int unwindtables_open(struct elffile *f, struct unwindtables **out);
void unwindtables_close(struct unwindtables *t); /* accepts NULL */

size_t unwindtables_memory(const struct unwindtables *t);

/* The link-time address of a file offset; false if nothing is loaded from there. */
bool unwindtables_address_of(const struct unwindtables *t, uint64_t offset,
			     uint64_t *address);

/* Ascending by function; both count from unwindtables_base(), a link-time address. */
struct unwindtables_entry {
	int32_t function, fde;
};

uint64_t unwindtables_base(const struct unwindtables *t);
const struct unwindtables_entry *unwindtables_entries(const struct unwindtables *t,
						      size_t *nr);

/* Whether a link-time address is in the code to which a signal handler returns. */
bool unwindtables_is_signal(const struct unwindtables *t, uint64_t address);

/*
 * Reads the 8 bytes at a link-time address, from the descriptions or from the file's
 * code and constants. Bytes beyond the descriptions' end are 0.
 */
bool unwindtables_read(const struct unwindtables *t, uint64_t address, uint64_t *word);

#endif

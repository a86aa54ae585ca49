/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ehframe.h - where functions begin and end, from their unwind information
 *
 * Stripped files keep .eh_frame: one frame description (FDE) per function, or
 * per part of one that stands apart.
 */
#ifndef CPI_ANALYSIS_EHFRAME_H
#define CPI_ANALYSIS_EHFRAME_H

#include "analysis/cover.h"
#include "analysis/elffile.h"

/*
 * Link-time addresses of the code that f's frame descriptions speak of. What
 * is damaged ends or leaves a gap in the list. *out starts empty. 0 or -ENOMEM.
 */
int ehframe_load(const struct elffile *f, struct cover *out);

/* Where a function's exception tables are; link-time addresses. */
struct ehframe_lsda {
	uint64_t function, address;
};

/* Those of all functions that have them; the caller frees *out. 0 or -ENOMEM. */
int ehframe_load_lsdas(const struct elffile *f, struct ehframe_lsda **out, size_t *nr);

/* A frame description: of which code, and where it is; link-time addresses. */
struct ehframe_fde {
	uint64_t function, size, address;
	bool signals; /* a signal's return: who it goes back to was interrupted */
};

/* All of them, and the bytes that they are in. Starts as { 0 }. */
struct ehframe {
	uint8_t *bytes; /* size of them, from a link-time address on */
	uint64_t address, size;
	struct ehframe_fde *fde; /* by function */
	size_t nr;
};

/* Where there are none, nr is 0. 0 or -ENOMEM. */
int ehframe_read(const struct elffile *f, struct ehframe *out);
void ehframe_fini(struct ehframe *e);

#endif

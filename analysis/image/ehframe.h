/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ehframe.h - the bounds of functions, from unwind information
 *
 * Stripped files keep .eh_frame: one frame description (FDE) for each function, or for
 * each part of a function that is placed apart.
 */
#ifndef CPI_ANALYSIS_EHFRAME_H
#define CPI_ANALYSIS_EHFRAME_H

#include "analysis/image/cover.h"
#include "analysis/image/elffile.h"

/*
 * Finds the link-time addresses of the code that f's frame descriptions cover. Damage
 * ends the list or leaves a gap in it. *out starts empty. Returns 0, -ENOMEM, or
 * another -errno if the file cannot be read.
 */
int ehframe_load(const struct elffile *f, struct cover *out);

/* A function and its exception table; link-time addresses. */
struct ehframe_lsda {
	uint64_t function, address;
};

/*
 * Finds the tables of all functions that have one; the caller frees *out. Returns as
 * ehframe_load().
 */
int ehframe_load_lsdas(const struct elffile *f, struct ehframe_lsda **out, size_t *nr);

/* A frame description: its code and its own place; link-time addresses. */
struct ehframe_fde {
	uint64_t function, size, address;
	bool signals; /* the return from a signal handler, to interrupted code */
};

/* All descriptions, and the bytes that hold them. Starts as { 0 }. */
struct ehframe {
	uint8_t *bytes; /* size of them, from a link-time address on */
	uint64_t address, size;
	struct ehframe_fde *fde; /* by function */
	size_t nr;
};

/* nr is 0 if there are none. Returns as ehframe_load(). */
int ehframe_read(const struct elffile *f, struct ehframe *out);
void ehframe_fini(struct ehframe *e);

#endif

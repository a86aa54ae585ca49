/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lsda.h - where unwinding enters functions: catch clauses and clean-ups
 */
#ifndef CPI_ANALYSIS_LSDA_H
#define CPI_ANALYSIS_LSDA_H

#include "analysis/image/elffile.h"

/* Starts as { 0 }; the caller frees offset. */
struct landing_pads {
	uint64_t *offset; /* file offsets, ascending, each once */
	size_t nr;
};

/* Makes them ascend, each once. */
void landing_pads_sort(struct landing_pads *p);

/*
 * Damaged tables give fewer pads. Returns 0, or -ENOMEM, or
 * another -errno if the file cannot be read, with *out untouched.
 */
int lsda_load(const struct elffile *f, struct landing_pads *out);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prof_epochs.h - merges epochs that follow each other, for the list of epochs
 *
 * The list of a year's hours would be longer than the rest of a report. Hours without
 * gaps, restarts and labels between them are listed as one interval.
 */
#ifndef CPI_REPORT_PROF_EPOCHS_H
#define CPI_REPORT_PROF_EPOCHS_H

#include "db/query/query.h"

/* Epochs of one machine, boot and label, less than a second apart. */
struct prof_stretch {
	const struct query_epoch *first;
	uint64_t to_ns;
	bool open; /* whether the last epoch is open */
	size_t nr; /* epochs */
};

/*
 * Merges epochs, which are sorted by time. The caller frees *out. Returns 0 or -ENOMEM.
 */
int prof_merge_epochs(const struct query_epochs *e, struct prof_stretch **out,
		      size_t *nr);

#endif

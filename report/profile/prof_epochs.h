/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prof_epochs.h - epochs that follow each other, as one
 *
 * The list of a year's hours is longer than all else that a report says. Without gaps,
 * restarts and labels, the hours say no more than their beginning and their end do.
 */
#ifndef CPI_REPORT_PROF_EPOCHS_H
#define CPI_REPORT_PROF_EPOCHS_H

#include "db/query/query.h"

/* Epochs of one machine, boot and label, less than a second apart. */
struct prof_stretch {
	const struct query_epoch *first;
	uint64_t to_ns;
	bool open; /* its last epoch is */
	size_t nr; /* epochs */
};

/*
 * Merges epochs, which are sorted by time. The caller frees *out. Returns 0 or -ENOMEM.
 */
int prof_merge_epochs(const struct query_epochs *e, struct prof_stretch **out,
		      size_t *nr);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * facts.h - losses of a selection, and texts of its streams and images
 */
#ifndef CPI_REPORT_FACTS_H
#define CPI_REPORT_FACTS_H

#include <stdbool.h>

#include "report/select/select.h"

/* Samples of one class of losses of the selected streams. */
uint64_t report_nr_lost(const struct selection *sel, enum loss_class class,
			int64_t stream);

/*
 * All samples lost under the name of sel's loss number i, if it is of this class; 0 for
 * later losses of the same name.
 */
uint64_t report_loss(const struct selection *sel, size_t i, enum loss_class class);

/* Streams that differ in their mean period alone, as the rate was changed. */
struct stream_group {
	const struct query_stream *least, *most; /* by mean period */
	uint64_t received, throttled, enabled_ns, running_ns;
	int64_t not_delivered; /* samples, of streams that lack some, ... */
	double amount;         /* ... and what they stand for, in the streams' unit */
};

/* The group of the selection's stream i; false: an earlier stream is in it. */
bool report_stream_group(const struct selection *sel, size_t i,
			 struct stream_group *out);

/* "10 ms", "1000003 cycles": what one sample stands for. */
#define REPORT_PERIOD_SIZE 48
char *report_period(const struct stream_desc *s, char out[REPORT_PERIOD_SIZE]);

/* "" when the image has no build id. */
#define REPORT_BUILD_ID_SIZE (2 * BUILD_ID_MAX + 1)
char *report_build_id(const struct image_desc *desc, char out[REPORT_BUILD_ID_SIZE]);

#endif

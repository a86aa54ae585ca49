/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * facts.h - losses of a selection, and descriptions of its streams and images
 */
#ifndef CPI_REPORT_FACTS_H
#define CPI_REPORT_FACTS_H

#include <stdbool.h>

#include "report/select/select.h"

/* Returns the number of samples in a class of losses of a stream. */
uint64_t report_nr_lost(const struct selection *sel, enum loss_class class,
			int64_t stream);

/*
 * If loss i is of this class, returns the sum of all losses of the class that
 * have its name, over all selected streams. Returns 0 if an earlier loss has the
 * same name, so that each name counts once.
 */
uint64_t report_loss(const struct selection *sel, size_t i, enum loss_class class);

/* Streams that differ only in their mean period, because the rate was changed. */
struct stream_group {
	const struct query_stream *least, *most; /* by mean period */
	uint64_t received, throttled, enabled_ns, running_ns;
	int64_t not_delivered; /* samples; only of streams where it is above 0 */
	double amount;         /* the same samples × mean period */
};

/* Sets *out to the group of stream i and returns true. Returns false if an earlier
 * stream is in the same group, so that a loop over the streams gets each group once. */
bool report_stream_group(const struct selection *sel, size_t i,
			 struct stream_group *out);

/* Writes the mean period: "10 ms", "1000003 cycles". Returns out. */
#define REPORT_PERIOD_SIZE 48
char *report_period(const struct stream_desc *s, char out[REPORT_PERIOD_SIZE]);

/* Writes the build id, or "" if the image has none. Returns out. */
#define REPORT_BUILD_ID_SIZE (2 * BUILD_ID_MAX + 1)
char *report_build_id(const struct image_desc *desc, char out[REPORT_BUILD_ID_SIZE]);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sums.h - time of a store's hosts by procedure or image, and what these are called
 *
 * A procedure is a name in an image's path: builds of one path are one image here. Code
 * without a captured symbol is "[unknown procedure]".
 */
#ifndef CPI_REPORT_FLEET_SUMS_H
#define CPI_REPORT_FLEET_SUMS_H

#include "base/arena.h"
#include "base/hmap.h"
#include "db/clickhouse/storesums.h"

/* Memory of the sums that are kept; more are -CPI_ELIMIT, logged. */
#define FLEET_SUMS_BYTES (1ULL << 30)

/* Equal texts are one pointer. "" where the request does not ask. */
struct fleet_sum {
	const char *host, *cluster, *release, *machine;
	const char *image, *procedure; /* procedure: if offsets are asked for */
	uint64_t n;
	double amount, ns; /* storesums.h */
};

struct fleet_sums {
	struct storesums_scope scope;
	struct fleet_sum *sum;
	size_t nr;
	/* While it is read. */
	struct arena arena;
	struct hmap texts;
	struct fleet_place *place; /* of each sum */
	struct fleet_image *image; /* ascending ids */
	size_t nr_images;
};

/*
 * Reads what a request asks the store url for. Errors are logged. *out is to be freed
 * with fleet_sums_fini() if 0 is returned.
 */
int fleet_sums_read(const char *url, const struct storesums_ask *ask,
		    struct fleet_sums *out);
void fleet_sums_fini(struct fleet_sums *s);

#endif

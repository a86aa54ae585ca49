/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sums.h - the time of a store's hosts by procedure or image, with names
 *
 * A procedure is identified by its name and the path of its image: all builds with one
 * path are one image. Code without a captured symbol is "[unknown procedure]".
 */
#ifndef CPI_REPORT_FLEET_SUMS_H
#define CPI_REPORT_FLEET_SUMS_H

#include "base/arena.h"
#include "base/hmap.h"
#include "db/clickhouse/storesums.h"

/* The limit of memory for sums; more is an error, -CPI_ELIMIT, which is logged. */
#define FLEET_SUMS_BYTES (1ULL << 30)

/* Equal strings have equal pointers. "" if the request does not ask for the member. */
struct fleet_sum {
	const char *host, *cluster, *release, *machine;
	const char *image,
		*procedure; /* procedure: only if the request asks for offsets */
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
	struct fleet_place *place; /* by sum */
	struct fleet_image *image; /* ascending ids */
	size_t nr_images;
};

/*
 * Reads the sums of a request from the store url. Errors are logged. If 0 is returned,
 * the caller frees *out with fleet_sums_fini().
 */
int fleet_sums_read(const char *url, const struct storesums_ask *ask,
		    struct fleet_sums *out);
void fleet_sums_fini(struct fleet_sums *s);

#endif

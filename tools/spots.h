/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spots.h - the instructions with the most of something, of however many
 *
 * I1  Memory is bounded: twice the limit is kept before the least are dropped.
 */
#ifndef CPI_TOOLS_SPOTS_H
#define CPI_TOOLS_SPOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "db/records.h"

#define SPOTS_MAX     100000 /* of --limit */
#define SPOTS_DEFAULT 20

/* Strings are owned; NULL where there is nothing to say. */
struct spot {
	double amount;    /* what orders, in samples */
	double samples;   /* as sampled */
	double cycles;    /* of one execution; NAN: not known */
	double frequency; /* the same */
	uint64_t offset, address;
	char *procedure, *image, *build_id, *text, *file;
	int line; /* 0 without file */
	/* Of a stall. */
	bool dynamic;
	char *reasons, *culprits;
	/* Of hardware's records: those of its offset, by one event. */
	struct records *records;
	size_t event;
};

struct spots {
	size_t limit;
	struct buf spot; /* struct spot */
	double least;    /* what is less gets in no more */
};

/* limit 0: SPOTS_DEFAULT. */
void spots_init(struct spots *s, uint64_t limit);
void spots_fini(struct spots *s);

/*
 * Room for a spot of this amount, zeroed but for the amount; NULL in *out when others
 * have more. The caller fills it before the next call. 0 or -ENOMEM.
 */
int spots_add(struct spots *s, double amount, struct spot **out);

/* The limit's number of spots at most, the greatest first. */
const struct spot *spots_sorted(struct spots *s, size_t *nr);

#endif

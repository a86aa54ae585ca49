/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * place.h - finds procedures by name, and their samples
 */
#ifndef CPI_REPORT_PLACE_H
#define CPI_REPORT_PLACE_H

#include "base/buf.h"
#include "report/explain/scope.h"

/* A count of one stream at one offset. */
struct place_sample {
	uint64_t offset;
	size_t event;
	double weight;                /* of all n together */
	uint64_t n, taken, not_taken; /* 0 if this is the time of weights */
};

/* Which offsets within its range belong to a place. */
enum place_kind {
	PLACE_PROCEDURE, /* those of the symbol at start, without nested symbols */
	PLACE_RANGE,     /* all */
	PLACE_UNNAMED,   /* those without a symbol */
};

/* A procedure with the wanted name, or the code at a wanted offset. */
struct found_place {
	struct query_image image; /* name owned by the place */
	uint64_t start, end;      /* image offsets */
	char *name;
	enum place_kind kind;
	struct buf samples; /* struct place_sample, ascending once it is chosen */
	double weight;      /* of the first event; the greatest is chosen */
	struct found_place *next;
};

struct found_places {
	struct found_place *first;
	struct found_place *chosen; /* the one with the most samples */
	bool has_weights;           /* some time comes from weights */
};

/* Finds [IMAGE:]PROC or 0xOFFSET. 0 or a negative error, which is logged. */
int place_find(struct scope *s, const char *proc, struct found_places *out);
void found_places_fini(struct found_places *p);

const struct place_sample *place_samples(const struct found_place *p, size_t *nr);

#endif

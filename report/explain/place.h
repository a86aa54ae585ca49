/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * place.h - the procedures that have a wanted name, and their samples
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
	uint64_t n, taken, not_taken; /* 0 where weights are that time */
};

/* What a place's offsets have in common, beside its range. */
enum place_kind {
	PLACE_PROCEDURE, /* the symbol that begins at start (others may nest in it) */
	PLACE_RANGE,     /* nothing */
	PLACE_UNNAMED,   /* no symbol */
};

/* A procedure that has the wanted name, or what was wanted instead of one. */
struct found_place {
	struct query_image image; /* name owned by the place */
	uint64_t start, end;      /* image offsets */
	char *name;
	enum place_kind kind;
	struct buf samples; /* struct place_sample, ascending once it is chosen */
	double weight;      /* of the event that orders, to choose by */
	struct found_place *next;
};

struct found_places {
	struct found_place *first;
	struct found_place *chosen; /* that with the most samples */
	bool has_weights;           /* some time is that of weights */
};

/* Finds [IMAGE:]PROC or 0xOFFSET. 0 or a negative error, which is logged. */
int place_find(struct scope *s, const char *proc, struct found_places *out);
void found_places_fini(struct found_places *p);

const struct place_sample *place_samples(const struct found_place *p, size_t *nr);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * selection.h - epochs, and what is selected of them
 */
#ifndef CPI_DB_SELECTION_H
#define CPI_DB_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/profile/context.h"
#include "db/profile/model.h"

/*
 * In a join of several databases (join.h), an id has the number of the database in
 * front: epoch 12 of the first database is 1:12.
 */
#define QUERY_EPOCH_ID(nr, own) ((int64_t)(nr) << 32 | (own))
#define QUERY_EPOCH_NR(id)      ((unsigned int)((id) >> 32)) /* 1, 2, … */
#define QUERY_EPOCH_OWN(id)     ((id)&0xffffffff)

struct query_epoch {
	int64_t id;
	char *label;      /* "" when none */
	uint64_t from_ns; /* real time */
	uint64_t to_ns;   /* end, or of the newest flush while it is open */
	bool open;
	uint32_t uncertainty_ms; /* of its beginning */
	char *host, *arch, *cpu, *release, *boot_id;
	uint64_t clock_hz;
	uint32_t nr_cpus;
	uint64_t samples; /* Σ over streams: stored + unknown + lost */
};

struct query_epochs {
	struct query_epoch *epoch; /* in order of time: of from_ns, then of id */
	size_t nr;
};

/* NULL fields do not restrict. Globs are fnmatch(3)'s without flags. */
struct query_selection {
	const struct query_epochs *epochs;
	const char *event;
	const char *image;   /* glob on the name, or on the end of its path */
	const char *context; /* glob on values of the kind; needs profiles by it
				(-CPI_EEMPTY without) */
	enum context_kind kind;
	bool apart; /* gives each context of the kind by itself, and if context is NULL,
		       also all samples together. -CPI_EEMPTY as above */
};

struct query_image {
	int64_t id;
	struct image_desc desc; /* name owned by the row */
};

#endif

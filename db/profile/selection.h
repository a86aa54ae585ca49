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
	uint64_t run_ns;  /* when the collector was started that took its samples */
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

/*
 * NULL fields do not restrict. Globs are fnmatch(3)'s without flags. Contexts that are
 * restricted by a kind have a value of it. -CPI_EEMPTY if the epochs have no profiles
 * by one of the kinds that are restricted or apart, or, of several, none by them
 * together.
 */
struct query_selection {
	const struct query_epochs *epochs;
	const char *event;
	const char *image; /* glob on the name, or on the end of its path */
	const char *context[NR_CONTEXT_KINDS]; /* globs on values */
	/* Whether a cgroup's path is one of these, beside its glob; NULL: any is. */
	bool (*takes_cgroup)(const struct query_selection *sel, const char *path);
	const char *container, *unit; /* globs for takes_cgroup() */
	/*
	 * 1 << kind: gives each context by itself that has one of these kinds, and if
	 * none is restricted, also all samples together.
	 */
	unsigned int apart;
	/*
	 * Also image 0: samples of the contexts that are of no image, by their reason
	 * as offset (enum stack_unknown). The profile of everybody has none.
	 */
	bool unknown;
	/* Of profiles only the sums of their counts, at offset 0: no blob is read. */
	bool totals;
};

/* 1 << kind for each kind that is restricted. */
unsigned int query_restricted_kinds(const struct query_selection *sel);

/*
 * Whether a context is selected, by its name. Those that are have no sample in common
 * if any kind is restricted or apart.
 */
bool query_takes_context(const struct query_selection *sel, const char *name);

struct query_image {
	int64_t id;
	struct image_desc desc; /* name owned by the row */
};

#endif

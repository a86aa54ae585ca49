/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * selection.h - epochs, and the selection of a report
 */
#ifndef CPI_DB_SELECTION_H
#define CPI_DB_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "db/profile/context.h"
#include "db/profile/model.h"

/*
 * In a join of several databases (join.h), an epoch's id contains the number of its
 * database: epoch 12 of the first database is 1:12.
 */
#define QUERY_EPOCH_ID(nr, own) ((int64_t)(nr) << 32 | (own))
#define QUERY_EPOCH_NR(id)      ((unsigned int)((id) >> 32)) /* 1, 2, … */
#define QUERY_EPOCH_OWN(id)     ((id)&0xffffffff)

struct query_epoch {
	int64_t id;
	char *label;      /* "" when none */
	uint64_t from_ns; /* real time */
	uint64_t to_ns;   /* its end; while it is open, the end of the newest flush */
	uint64_t run_ns;  /* start time of the collector that took the samples */
	bool open;
	uint32_t uncertainty_ms; /* uncertainty of from_ns */
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
 * Keeps what queries have added up, for later runs (db/query/kept_sums.h). load()
 * appends what was saved under the key, and returns 0 or -errno; every failure of
 * either only costs time. limit() is called after the last save().
 */
struct query_keep_key {
	uint64_t hash[2];
};

struct query_keeper {
	int (*load)(const struct query_keeper *k, const struct query_keep_key *key,
		    struct buf *out);
	void (*save)(const struct query_keeper *k, const struct query_keep_key *key,
		     const void *data, size_t size);
	void (*limit)(const struct query_keeper *k);
	uint64_t device, inode; /* of the database */
};

/*
 * NULL fields do not restrict. Globs are those of fnmatch(3) without flags. A
 * restriction by a kind selects only contexts that have a value of this kind. Queries
 * return -CPI_EEMPTY if the epochs have no profiles by a kind that is restricted or in
 * apart, or none by several such kinds together.
 */
struct query_selection {
	const struct query_epochs *epochs;
	const char *event;
	const char *image; /* glob on the name, or on the end of its path */
	const char *context[NR_CONTEXT_KINDS]; /* globs on values */
	/*
	 * Whether a cgroup's path is selected, in addition to the glob. NULL: every
	 * path is.
	 */
	bool (*takes_cgroup)(const struct query_selection *sel, const char *path);
	const char *container, *unit; /* globs for takes_cgroup() */
	struct db *db;                /* for takes_cgroup(): has names of containers */
	/*
	 * Bit mask (1 << kind): returns contexts with one of these kinds separately. If
	 * no kind is restricted, also returns all samples together.
	 */
	unsigned int apart;
	/*
	 * Also returns image 0: samples of contexts without an image; the offset is the
	 * reason (enum stack_unknown). The profile of all samples has none.
	 */
	bool unknown;
	/* Returns only the total of each profile, at offset 0, and reads no blob. */
	bool totals;
	const struct query_keeper *keeper; /* NULL: nothing is kept between runs */
};

/* Bit mask (1 << kind) of the kinds that are restricted. */
unsigned int query_restricted_kinds(const struct query_selection *sel);

/*
 * Whether the context of this name is selected. Selected contexts share no sample if a
 * kind is restricted or in apart.
 */
bool query_takes_context(const struct query_selection *sel, const char *name);

struct query_image {
	int64_t id;
	struct image_desc desc; /* the row owns the name */
};

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfimport.h - a recording of perf's as an epoch
 *
 * Its samples go the way of our own: process map, image, tally, flush. The recording
 * is read twice: what its streams are is known at the end only, and before the first
 * byte is stored it has been read to the end without an error.
 */
#ifndef CPI_DAEMON_PERFIMPORT_H
#define CPI_DAEMON_PERFIMPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "db/core/db.h"

#define PERFIMPORT_ID_SIZE 72

struct perfimport_config {
	const char *name;  /* of the file, for messages */
	const char *label; /* of the epoch, or NULL */
	bool keep_partial; /* what comes before an error */
	uint64_t max_memory;
};

struct perfimport_result {
	uint64_t nr_samples; /* stored, or lost by name */
	uint64_t nr_lost;    /* of these, lost by perf */
	uint64_t nr_unknown; /* of these, without an image */
	uint64_t nr_stacks;  /* call stacks of these */
	uint64_t nr_strange; /* left out: of events that the recording does not describe
			      */
	int err;             /* what ended the reading early, with keep_partial; or 0 */
};

/*
 * What a recording is known by, "perf.data:" and its SHA-256: its machine's boot id in
 * the database. 0 or -errno.
 */
int perfimport_id(int fd, char out[PERFIMPORT_ID_SIZE]);

/*
 * Adds the recording, which fd reads from its begin on (a regular file), to an empty
 * database. 0, -CPI_EEMPTY when it has no samples, an error of the reading, or what the
 * database reports; all are logged. After a failure the database is to be thrown away.
 */
int perfimport_file(struct db *db, int fd, const struct perfimport_config *cfg,
		    struct perfimport_result *out);

#endif

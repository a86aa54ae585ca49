/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfimport.h - imports a recording of perf as an epoch
 *
 * Its samples are attributed like live ones: process map, image, tally, flush. The
 * recording is read twice, for two reasons: its streams are known only at its end, and
 * nothing is stored before all of it was read without an error.
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
	bool keep_partial; /* import the part before an error */
	uint64_t max_memory;
};

struct perfimport_result {
	uint64_t nr_samples; /* stored, or lost by name */
	uint64_t nr_lost;    /* samples of these that perf lost */
	uint64_t nr_unknown; /* samples of these without an image */
	uint64_t nr_stacks;  /* call stacks of these */
	uint64_t nr_strange; /* samples that were left out, because the recording does
				not describe their event */
	int err;             /* what ended the reading early, with keep_partial; or 0 */
};

/*
 * Makes the identity of a recording: "perf.data:" and its SHA-256. The database stores
 * it as the boot id of the machine. Returns 0 or -errno.
 */
int perfimport_id(int fd, char out[PERFIMPORT_ID_SIZE]);

/*
 * Adds a recording, a regular file that fd reads from its begin on, to an empty
 * database. Returns 0, -CPI_EEMPTY if it has no samples, an error of the reading, or an
 * error of the database; all are logged. After a failure discard the database.
 */
int perfimport_file(struct db *db, int fd, const struct perfimport_config *cfg,
		    struct perfimport_result *out);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay.h - a file of TIP records, into a database
 *
 * What ran becomes an image of kind "trace", whose offsets are its addresses; its
 * functions and instructions have the names that the file has for them. The stream is
 * "cycles" from "replay", its period the interval. A cycle counts as a nanosecond.
 */
#ifndef CPI_DAEMON_REPLAY_H
#define CPI_DAEMON_REPLAY_H

#include <stdint.h>

struct replay_config {
	const char *path;    /* the file */
	const char *db_path; /* made when it is not there */
	const char *label;   /* of the epoch; may be NULL */
};

/*
 * Stores all of it, as an epoch of its own, or nothing. Returns 0 and how many samples
 * that were; -errno or -CPI_E..., logged.
 */
int replay_file(const struct replay_config *cfg, uint64_t *nr_samples);

#endif

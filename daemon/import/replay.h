/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay.h - a file of TIP records, into a database
 *
 * What ran becomes an image of kind "trace", whose offsets are its addresses; its
 * functions and instructions have the names that the file has for them. Where the
 * program is there, it is that image, and samples elsewhere have no mapping. The stream
 * is "cycles" from "replay", its period the interval. A cycle counts as a nanosecond.
 */
#ifndef CPI_DAEMON_REPLAY_H
#define CPI_DAEMON_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "db/profile/model.h"

/* What ran, where its file is there. */
struct replay_program {
	struct image_desc desc;
	const char *arch; /* uname -m of its machine */
	/* The image offset of an address; false where the file has none. */
	bool (*offset_of)(void *ctx, uint64_t address, uint64_t *offset);
	void *ctx;
};

struct replay_config {
	const char *path;                     /* the file of records */
	const char *db_path;                  /* made when it is not there */
	const char *label;                    /* of the epoch; may be NULL */
	const struct replay_program *program; /* NULL: it is not there */
};

/*
 * Stores all of it, as an epoch of its own, or nothing. Returns 0 and how many samples
 * that were; -errno or -CPI_E..., logged.
 */
int replay_file(const struct replay_config *cfg, uint64_t *nr_samples);

#endif

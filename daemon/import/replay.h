/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay.h - stores a file of TIP records in a database
 *
 * The program becomes an image of kind "trace". Its offsets are addresses, and its
 * functions and instructions have the names that are in the file. If the program's own
 * file is given, it is the image instead, and samples outside of it have no mapping.
 * The stream has the event "cycles", the source "replay", and the sampling interval as
 * period. A cycle counts as a nanosecond.
 */
#ifndef CPI_DAEMON_REPLAY_H
#define CPI_DAEMON_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "db/profile/model.h"

/* The program's own file. */
struct replay_program {
	struct image_desc desc;
	const char *arch; /* uname -m of its machine */
	/* Gets the image offset of an address; returns false if the file has none. */
	bool (*offset_of)(void *ctx, uint64_t address, uint64_t *offset);
	void *ctx;
};

struct replay_config {
	const char *path;                     /* the file of records */
	const char *db_path;                  /* created if it does not exist */
	const char *label;                    /* of the epoch; may be NULL */
	const struct replay_program *program; /* NULL: its file is not given */
};

/*
 * Stores the whole file as a new epoch, or nothing. Returns 0 and the number of
 * samples; or -errno or -CPI_E..., logged.
 */
int replay_file(const struct replay_config *cfg, uint64_t *nr_samples);

#endif

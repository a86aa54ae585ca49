/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay_samples.h - the samples of a file of TIP records, shared out
 *
 * The oldest instruction of a sample counts it, as a core without TIP would have done;
 * all that share it have their part of it as a weight.
 *
 * I1  Per sample: Σ counts = 1, Σ parts = WEIGHT_UNIT.
 */
#ifndef CPI_DAEMON_REPLAY_SAMPLES_H
#define CPI_DAEMON_REPLAY_SAMPLES_H

#include <stdint.h>

#include "daemon/os/tipfile.h"
#include "db/profile/profile.h"

/* What one instruction has of a sample. */
struct replay_share {
	uint64_t address;
	uint64_t count; /* 1 for the oldest, 0 for the others */
	enum weight weight;
	uint32_t part; /* of WEIGHT_UNIT */
};

/* What the file has is given to these. They return 0 or an error, which ends it. */
struct replay_taker {
	int (*share)(void *ctx, const struct replay_share *share);
	int (*code)(void *ctx, const struct tipfile_code *code);
	void *ctx;
};

/* Reads f to its end. 0 and how many samples it has, or an error. */
int replay_read_samples(struct tipfile *f, const struct replay_taker *to,
			uint64_t *nr_samples);

#endif

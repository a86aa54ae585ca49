/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay_samples.h - divides the samples of a TIP file among their instructions
 *
 * The oldest instruction of a sample gets its count, as on a core without TIP. Each
 * instruction that shares the sample gets its part as a weight.
 *
 * I1  Per sample: Σ counts = 1, Σ parts = WEIGHT_UNIT.
 */
#ifndef CPI_DAEMON_REPLAY_SAMPLES_H
#define CPI_DAEMON_REPLAY_SAMPLES_H

#include <stdint.h>

#include "daemon/os/tipfile.h"
#include "db/profile/profile.h"

/* The share of one instruction in a sample. */
struct replay_share {
	uint64_t address;
	uint64_t count; /* 1 for the oldest, 0 for the others */
	enum weight weight;
	uint32_t part; /* of WEIGHT_UNIT */
};

/*
 * Functions that get the contents of the file. They return 0, or an error, which ends
 * the reading.
 */
struct replay_taker {
	int (*share)(void *ctx, const struct replay_share *share);
	int (*code)(void *ctx, const struct tipfile_code *code);
	void *ctx;
};

/* Reads f to its end. Returns 0 and the number of samples, or an error. */
int replay_read_samples(struct tipfile *f, const struct replay_taker *to,
			uint64_t *nr_samples);

#endif

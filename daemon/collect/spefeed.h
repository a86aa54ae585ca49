/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spefeed.h - what Arm's SPE wrote, piece by piece, of a recording's buffer or our own
 *
 * I1  The records are the same, however the bytes are cut into pieces.
 */
#ifndef CPI_DAEMON_SPEFEED_H
#define CPI_DAEMON_SPEFEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/spe.h"
#include "daemon/os/loss.h"

#define SPEFEED_REST (SPE_RECORD_MAX + 16) /* with a packet */

/* From the ticks of the hardware's timestamps to perf's time. */
struct spe_clock {
	bool known;
	bool is_short; /* the counter has only the bits of mask */
	uint16_t shift;
	uint32_t mult;
	uint64_t zero, cycles, mask;
};

uint64_t spe_clock_ns(const struct spe_clock *c, uint64_t ticks);

/* PERF_AUX_FLAG_…, and what they say was lost. */
#define SPEFEED_NR_LOSSES 3
struct spefeed_loss {
	uint64_t flag;
	enum loss loss;
};
extern const struct spefeed_loss spefeed_losses[SPEFEED_NR_LOSSES];

/* One buffer's stream. Starts as { 0 }, but for common_sources (spe.h). */
struct spefeed {
	bool common_sources;
	bool damaged;               /* spe_reader's */
	uint64_t nr_damaged;        /* records that were left out */
	uint64_t end;               /* the offset behind what was taken in */
	size_t nr_rest;             /* of a record that has not ended: */
	uint8_t rest[SPEFEED_REST]; /* its bytes */
};

/*
 * Takes in bytes that were at an offset of the buffer; what lies between the ones
 * before and these is a gap. Calls fn for each record that ends here, and stops at its
 * first non-zero return, which it returns: nothing is to be taken in after that.
 */
typedef int (*spefeed_fn)(void *ctx, const struct hw_record *hw);
int spefeed_take(struct spefeed *f, const void *data, size_t size, uint64_t offset,
		 spefeed_fn fn, void *ctx);

/* The end: a record that has not ended yet is damaged. */
void spefeed_end(struct spefeed *f);

#endif

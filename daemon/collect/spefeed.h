/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spefeed.h - decodes Arm SPE data that comes in pieces, live or from a recording
 *
 * I1  The records do not depend on how the bytes are split into pieces.
 */
#ifndef CPI_DAEMON_SPEFEED_H
#define CPI_DAEMON_SPEFEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/spe.h"
#include "daemon/os/loss.h"

#define SPEFEED_REST (SPE_RECORD_MAX + 16) /* a record and a packet */

/* Converts the hardware's timestamps (in ticks) to perf's time. */
struct spe_clock {
	bool known;
	bool is_short; /* the counter has only the bits in mask */
	uint16_t shift;
	uint32_t mult;
	uint64_t zero, cycles, mask;
};

uint64_t spe_clock_ns(const struct spe_clock *c, uint64_t ticks);

/* The flags PERF_AUX_FLAG_… of a PERF_RECORD_AUX, and the loss that each reports. */
#define SPEFEED_NR_LOSSES 3
struct spefeed_loss {
	uint64_t flag;
	enum loss loss;
};
extern const struct spefeed_loss spefeed_losses[SPEFEED_NR_LOSSES];

/* The stream of one buffer. Starts as { 0 }; then set common_sources (spe.h). */
struct spefeed {
	bool common_sources;
	bool damaged;               /* as in struct spe_reader */
	uint64_t nr_damaged;        /* damaged records, which were skipped */
	uint64_t end;               /* offset after the last byte that was taken */
	size_t nr_rest;             /* size of rest */
	uint8_t rest[SPEFEED_REST]; /* the beginning of a record whose end is still
				     * missing
				     */
};

/*
 * Decodes bytes that were at an offset of the buffer. If they do not follow the
 * previous bytes, there is a gap. Calls fn for each record that ends in these bytes. If
 * fn returns non-zero, returns that value at once; then the feed must not be used any
 * more.
 */
typedef int (*spefeed_fn)(void *ctx, const struct hw_record *hw);
int spefeed_take(struct spefeed *f, const void *data, size_t size, uint64_t offset,
		 spefeed_fn fn, void *ctx);

/* Ends the stream. A record whose end is missing counts as damaged. */
void spefeed_end(struct spefeed *f);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * auxarea.h - Arm's SPE of one CPU: the area that it writes to, and who is told of it
 *
 * The hardware writes packets into pages that it shares with us; a ring beside them has
 * PERF_RECORD_AUX for each part that is ready. What is decoded is given back.
 *
 * I1  A sample was taken between the last two records that told of the area.
 */
#ifndef CPI_DAEMON_AUXAREA_H
#define CPI_DAEMON_AUXAREA_H

#include "daemon/os/loss.h"
#include "daemon/os/ring.h"
#include "daemon/collect/spefeed.h"

struct auxarea {
	struct ring ring; /* meta is NULL: not open */
	int fd;
	const uint8_t *area;
	size_t size; /* a power of two */
	uint64_t told_ns;
	struct spefeed feed;
};

struct auxarea_sample {
	uint64_t from_ns, to_ns; /* taken in between */
	uint32_t pid;            /* that ran when the record was written */
	const struct hw_record *hw;
};

/* What becomes of what is drained. */
struct auxarea_owner {
	void (*sample)(void *ctx, const struct auxarea_sample *s);
	/* So many samples at least are lost. */
	void (*lost)(void *ctx, enum loss loss, uint64_t n);
	void *ctx;
};

/* Of an event that is open on a CPU, since a moment. 0 or -errno. */
int auxarea_open(struct auxarea *a, int fd, int cpu, uint64_t now_ns);
void auxarea_close(struct auxarea *a); /* accepts one that is not open */

/*
 * Takes in what is told of so far. With flush, what the hardware has still is told of
 * before, and an area that was full is written to again.
 */
void auxarea_snapshot(struct auxarea *a, bool flush);

/* Hands out what was sampled up to the snapshot. */
void auxarea_drain(struct auxarea *a, const struct auxarea_owner *owner);

/* How far the hardware has written. */
uint64_t auxarea_progress(const struct auxarea *a);

#endif

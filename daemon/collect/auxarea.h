/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * auxarea.h - reads the records of Arm's SPE on one CPU
 *
 * The hardware writes packets to shared pages, the AUX area. The event's ring has a
 * PERF_RECORD_AUX for each part of the area that is ready. Decoded parts are returned
 * to the hardware.
 *
 * I1  A sample was taken after the previous PERF_RECORD_AUX (the first time: after the
 *     open) and before the PERF_RECORD_AUX that announces its part of the area. from_ns
 *     and to_ns are these two times.
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
	size_t size;      /* a power of two */
	uint64_t told_ns; /* time of the last PERF_RECORD_AUX, or of the open */
	struct spefeed feed;
};

struct auxarea_sample {
	uint64_t from_ns, to_ns; /* the sample was taken between these times */
	uint32_t pid; /* the process that ran when the PERF_RECORD_AUX was written */
	const struct hw_record *hw;
};

/* Receives the samples and losses. */
struct auxarea_owner {
	void (*sample)(void *ctx, const struct auxarea_sample *s);
	/* At least n samples are lost. */
	void (*lost)(void *ctx, enum loss loss, uint64_t n);
	void *ctx;
};

/*
 * Maps the area of the event fd, which was opened on cpu at now_ns. Returns 0 or
 * -errno. On success the caller must call auxarea_close() before it closes fd.
 */
int auxarea_open(struct auxarea *a, int fd, int cpu, uint64_t now_ns);
void auxarea_close(struct auxarea *a); /* accepts one that is not open */

/*
 * Reads the records in the ring. With flush, the kernel first adds a record for the
 * part that the hardware still holds, and restarts the hardware if the area was full.
 */
void auxarea_snapshot(struct auxarea *a, bool flush);

/* Passes the samples up to the snapshot to owner. */
void auxarea_drain(struct auxarea *a, const struct auxarea_owner *owner);

/* Returns how far the hardware has written. */
uint64_t auxarea_progress(const struct auxarea *a);

#endif

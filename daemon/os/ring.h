/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ring.h - reading a perf event's ring buffer
 *
 * I1  tail <= limit <= what the kernel has published.
 * I2  The kernel sees a new tail only through ring_release(), after everything
 *     before it was copied or used.
 */
#ifndef CPI_DAEMON_RING_H
#define CPI_DAEMON_RING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ring {
	struct perf_event_mmap_page *meta; /* NULL: not open */
	const uint8_t *data;
	uint64_t size; /* of data, a power of two */
	uint64_t tail;
	uint64_t limit;
	uint8_t *wrapped; /* a copy of a record that goes round the end */
};

/* Maps fd's ring with size bytes of data (a power of two pages). 0 or -errno. */
int ring_open(struct ring *r, int fd, size_t size);
void ring_close(struct ring *r); /* accepts one that is not open */

/* Bytes that the kernel has published, and that were not read yet. */
uint64_t ring_unread(const struct ring *r);

/* Takes in what the kernel has published so far: ring_peek() goes no further. */
void ring_snapshot(struct ring *r);

/*
 * The next record below the snapshot, or NULL. Valid until ring_next(). A record
 * with an impossible size ends the snapshot, because the record after it cannot
 * be found.
 */
const struct perf_event_header *ring_peek(struct ring *r);
void ring_next(struct ring *r, const struct perf_event_header *record);

/*
 * Returns to the kernel the space of all records that ring_next() has passed.
 * Returns whether the ring was at least half full since the last release. The
 * kernel loses a record only if there is less room than its size, at most 64 KiB.
 * So if the ring has 128 KiB or more and this is false, no record was lost.
 */
bool ring_release(struct ring *r);

#endif

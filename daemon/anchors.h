/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * anchors.h - exact counts, by a breakpoint here and there for some milliseconds
 *
 * Windows tell which instructions are called, and which threads run. Now and then a
 * thread that ran gets a breakpoint at such an instruction: a visit. Whose it is does
 * not follow from what the thread does just then, so that the mean of its visits is a
 * place's rate, in the command's CPU time.
 *
 * I1  At most hits_per_s hits in the whole system, on average over a second; one visit
 *     at a time, of at most ANCHORS_HITS hits and ANCHORS_VISIT_NS.
 */
#ifndef CPI_DAEMON_ANCHORS_H
#define CPI_DAEMON_ANCHORS_H

#include "base/buf.h"
#include "daemon/anchortally.h"
#include "daemon/attribute.h"

#define ANCHORS_HITS     32
#define ANCHORS_VISIT_NS (20 * NSEC_PER_MSEC)

struct anchors_config {
	double hits_per_s;
	struct attribution *attribution;
	const char *const *exclude; /* windowexclude.h; the owner's */
	int nr_excluded;
};

struct anchors;

/*
 * Measures what a hit costs. 0 or -errno, logged: this machine has no breakpoints, or
 * they are not allowed.
 */
int anchors_open(const struct anchors_config *cfg, struct anchors **out);
void anchors_close(struct anchors *a); /* accepts NULL */

/* A window of a thread, and an instruction that it saw called at an address. */
void anchors_offer(struct anchors *a, uint32_t tgid, uint32_t tid);
void anchors_see(struct anchors *a, uint32_t tgid, uint64_t address,
		 struct known_image *image, uint64_t offset);

/* In how many ms at the latest something is to be done; 0: now. */
int anchors_wait_ms(const struct anchors *a);

/*
 * Ends the visit that there is, if it is time to or there shall be none (now). True:
 * the mapping events are to be read, and anchors_settle() is to be called.
 */
bool anchors_end(struct anchors *a, bool now);
void anchors_settle(struct anchors *a);

/* Begins one, when the budget has hits for it. */
void anchors_begin(struct anchors *a);

/* Share of a CPU's time that hits take at the most. */
double anchors_cost(const struct anchors *a);

struct anchortally *anchors_tally(const struct anchors *a);

/* Appends lines "name value" (cpid(8), "STATUS"). */
void anchors_status(const struct anchors *a, struct buf *out);

#endif

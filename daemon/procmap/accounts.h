/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * accounts.h - which user pays for what the process map holds
 *
 * Each process is charged to an account, which is named by a user id. Processes inherit
 * it, and only one of root's moves to another account, when it is another user's by
 * then (procmap.c). So whatever a user starts stays in that user's account: programs
 * that run as somebody else, and the users of a namespace of that user's own.
 *
 * I1  Where there is no room for mappings, those of the account that has most make it:
 *     procmap.c gives up its largest processes. An account that has less than the
 *     others has all that it wants.
 * I2  With free = max_processes - nr_processes, an account has at most ACCOUNT_FACTOR x
 *     free processes. Each of k accounts that want everything has FACTOR / (k FACTOR +
 *     1) of it when those that ended are forgotten, and the rest is free.
 */
#ifndef CPI_DAEMON_ACCOUNTS_H
#define CPI_DAEMON_ACCOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hmap.h"

#define ACCOUNT_FACTOR 2

struct account {
	struct hnode node; /* by uid */
	uint32_t uid;
	unsigned int nr_users; /* processes, and mappings that outlive them */
	size_t nr_ranges, nr_processes;
	uint64_t nr_records; /* of forks, execs and mappings, since
				accounts_take_excess() */
};

/* Starts as { .max_ranges, .max_processes }. */
struct accounts {
	struct hmap by_uid;
	size_t max_ranges, max_processes;
	size_t nr_ranges, nr_processes; /* of all, with those that nobody pays for */
	uint64_t nr_records;
};

void accounts_fini(struct accounts *as); /* when no account has users any more */

/* The account of a user, with one user more; NULL when out of memory. */
struct account *accounts_get(struct accounts *as, uint32_t uid);

/* Both accept NULL: nobody pays, and only the bounds of all hold. */
struct account *account_hold(struct account *a);
void account_put(struct accounts *as, struct account *a);

/* Whether nr more ranges fit, and whether an account may have one more process. */
bool accounts_have_room(const struct accounts *as, size_t nr);
bool account_has_place(const struct accounts *as, const struct account *a);

/* The account that has most ranges; NULL: none has any. */
struct account *accounts_largest(const struct accounts *as);

/* These do not ask. */
void account_charge_ranges(struct accounts *as, struct account *a, ptrdiff_t nr);
void account_charge_process(struct accounts *as, struct account *a, int nr);

void account_note_record(struct accounts *as, struct account *a);

/*
 * Of ns that all records since the last call have taken: what is above share_ns for any
 * single account, by the records that it made. Begins to count anew.
 */
uint64_t accounts_take_excess(struct accounts *as, uint64_t ns, uint64_t share_ns);

#endif

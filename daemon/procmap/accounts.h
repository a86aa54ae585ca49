/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * accounts.h - charges the memory of the process map to users
 *
 * Each process is charged to the account of a user id. Processes inherit the account.
 * Only a process in root's account can move to another account, namely when its user id
 * has changed (procmap.c). So everything that a user starts stays in that user's
 * account, including setuid programs, and programs that run with other user ids in the
 * user's own namespaces.
 *
 * I1  If there is no room for mappings, procmap.c drops the mappings of the largest
 *     processes of the account that has the most. So an account loses none as
 *     long as another one has more.
 * I2  The number of an account's processes is at most ACCOUNT_FACTOR × free, where free
 *     = max_processes - nr_processes. If k accounts each take as many as they can, each
 *     ends up with ACCOUNT_FACTOR / (k × ACCOUNT_FACTOR + 1) of max_processes, as soon
 *     as ended processes are forgotten. The rest stays free.
 */
#ifndef CPI_DAEMON_ACCOUNTS_H
#define CPI_DAEMON_ACCOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hmap.h"

#define ACCOUNT_FACTOR 2

struct account {
	struct hnode node; /* in accounts.by_uid */
	uint32_t uid;
	unsigned int nr_users; /* references: processes and struct maps */
	size_t nr_ranges, nr_processes;
	/* records of forks, execs and mappings since the last accounts_take_excess() */
	uint64_t nr_records;
};

/* Starts as { .max_ranges, .max_processes }. */
struct accounts {
	struct hmap by_uid;
	size_t max_ranges, max_processes;
	size_t nr_ranges, nr_processes; /* totals, including those without account */
	uint64_t nr_records;
};

void accounts_fini(struct accounts *as); /* call it after the last account_put() */

/*
 * Finds or makes the account of a user, and takes a reference. Returns NULL if out of
 * memory.
 */
struct account *accounts_get(struct accounts *as, uint32_t uid);

/*
 * Take and release a reference. Both accept NULL: a process without account; then only
 * the total limits apply.
 */
struct account *account_hold(struct account *a);
void account_put(struct accounts *as, struct account *a);

/*
 * accounts_have_room() returns whether nr more mappings (ranges) fit within the total
 * limit; account_has_place(), whether an account may have one more process (I2).
 */
bool accounts_have_room(const struct accounts *as, size_t nr);
bool account_has_place(const struct accounts *as, const struct account *a);

/* Returns the account with the most ranges; NULL if none has any. */
struct account *accounts_largest(const struct accounts *as);

/* Add nr (may be negative) to the counts. They do not check limits. */
void account_charge_ranges(struct accounts *as, struct account *a, ptrdiff_t nr);
void account_charge_process(struct accounts *as, struct account *a, int nr);

void account_note_record(struct accounts *as, struct account *a);

/*
 * ns is the time that all records since the last call took. Each account's part of it
 * is in proportion to its records. share_ns is the time that one account may use.
 * Returns the time that accounts used beyond it, all accounts together, and resets the
 * counts of records.
 */
uint64_t accounts_take_excess(struct accounts *as, uint64_t ns, uint64_t share_ns);

#endif

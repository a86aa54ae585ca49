/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * retaining.c - rolls up or removes epochs on request
 *
 * The steps are those of the daemon's retention. After each step it rests for as long
 * as the step took, so that a daemon can flush meanwhile.
 */
#include "config.h"

#include "tools/retain/retaining.h"

#include <errno.h>
#include <inttypes.h>
#include <time.h>

#include "base/err.h"
#include "base/log.h"
#include "base/times.h"
#include "db/core/rows.h"
#include "db/retain/retain.h"
#include "tools/ui/out.h"

/* Runs all steps, each followed by an equally long rest for a daemon's flushes. */
static int run_steps(struct retain *r)
{
	uint64_t begun_ns, took_ns;
	int more;

	do {
		begun_ns = time_mono_ns();
		more = retain_step(r, time_real_ns());
		took_ns = time_mono_ns() - begun_ns;
		nanosleep(&(struct timespec){ took_ns / NSEC_PER_SEC,
					      took_ns % NSEC_PER_SEC },
			  NULL);
	} while (more == 1);
	return more;
}

/* Does the work, or only logs err; advice says how to continue. */
static int finish(struct db *db, struct retain *r, const char *advice, int err)
{
	if (!err)
		err = run_steps(r);
	if (err)
		log_err("%s: %s: %s", db_path(db),
			err == -EBUSY ? "another process keeps it busy" : err_str(err),
			advice);
	return err;
}

int retaining_roll(struct db *db, const struct query_epochs *epochs)
{
	const struct retain_policy days = { .minutely_ns = 1, .hourly_ns = 1 };
	struct retain *r = NULL;
	struct buf ids = { 0 };
	struct retain_stats stats;
	int err = epochs ? rows_epoch_ids(epochs, &ids) : 0;

	if (!err)
		err = retain_new(db, &days, ids.data, &r);
	if (!err)
		err = finish(db, r, "try again, and it continues where it stopped", 0);
	if (!err) {
		stats = retain_stats(r);
		if (stats.nr_hours)
			out_line("%" PRIu64 " hour%s rolled up", stats.nr_hours,
				 stats.nr_hours == 1 ? "" : "s");
		out_line("%" PRIu64 " day%s rolled up", stats.nr_days,
			 stats.nr_days == 1 ? "" : "s");
	}
	retain_free(r);
	buf_fini(&ids);
	return err;
}

/* Whether all of them may be removed. */
static int check_removable(const struct query_epochs *epochs)
{
	for (size_t i = 0; i < epochs->nr; i++) {
		const struct query_epoch *e = &epochs->epoch[i];

		if (e->open) {
			log_err("epoch %" PRId64 " is open: 'cpi epoch new' ends it; "
				"nothing was removed",
				e->id);
			return -EBUSY;
		}
		if (*e->label) {
			log_err("epoch %" PRId64 " is called '%s', and kept for that: "
				"'cpi epoch label %" PRId64
				" \"\"' takes the name away; "
				"nothing was removed",
				e->id, e->label, e->id);
			return -EPERM;
		}
	}
	return 0;
}

int retaining_remove(struct db *db, const struct query_epochs *epochs)
{
	const struct retain_policy none = { 0 };
	struct retain *r = NULL;
	int err = check_removable(epochs);

	if (err)
		return err;
	err = retain_new(db, &none, NULL, &r);
	for (size_t i = 0; !err && i < epochs->nr; i++)
		err = retain_remove(r, epochs->epoch[i].id);
	err = finish(db, r,
		     "try again with those that are still listed; cpid, or the next "
		     "'cpi epoch rm' or 'roll', removes the rows of the others",
		     err);
	if (!err)
		out_line("%zu epoch%s removed", epochs->nr, epochs->nr == 1 ? "" : "s");
	retain_free(r);
	return err;
}

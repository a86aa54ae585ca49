/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * retain_clock.c - a clock that accepts a jump only after a wait
 *
 * 	           ahead by more than the slack
 * 	believed  ------------------------------>  waiting  --+ another jump:
 * 	          <------------------------------           <-+ the wait begins anew
 * 	           the wait is over, or the clock is back
 *
 * While it waits, the time is the last believed time plus the time since then, by a
 * clock that never jumps. If an earlier process wrote flushes after the jump, their
 * time counts as waiting.
 */
#include "config.h"

#include "db/retain/retain_clock.h"

#include "base/times.h"
#include "db/core/sql.h"

/*
 * The longest pause between two collectors for which flushes after a jump still count.
 */
#define RESTART_NS (24 * RETAIN_CLOCK_SLACK_NS)

/* How long a jump must last until it is accepted. */
static uint64_t wait_ns_of(uint64_t jump_ns)
{
	const uint64_t ns = jump_ns / 4;

	if (ns < RETAIN_CLOCK_MIN_NS)
		return RETAIN_CLOCK_MIN_NS;
	return ns < RETAIN_CLOCK_MAX_NS ? ns : RETAIN_CLOCK_MAX_NS;
}

/* Flushes from the newest one back. */
struct clock_walk {
	struct retain_clock *c;
	uint64_t first_ns;  /* begin of the oldest so far; UINT64_MAX: there was none */
	uint64_t lasted_ns; /* Σ of their times, without gaps */
};

/* Returns 1 to end the walk: any earlier jump has lasted long enough. */
static int take_flush(sqlite3_stmt *st, void *ctx)
{
	struct clock_walk *w = ctx;
	struct retain_clock *c = w->c;
	const uint64_t from_ns = (uint64_t)sqlite3_column_int64(st, 0);
	const uint64_t to_ns = (uint64_t)sqlite3_column_int64(st, 1);
	const uint64_t end_ns = to_ns < w->first_ns ? to_ns : w->first_ns;

	if (w->first_ns == UINT64_MAX) {
		c->newest_ns = c->believed_ns = to_ns;
	} else if (w->first_ns - end_ns > RETAIN_CLOCK_SLACK_NS &&
		   w->lasted_ns < wait_ns_of(w->first_ns - end_ns)) {
		c->believed_ns = to_ns + w->lasted_ns;
		c->credit_ns = w->lasted_ns;
	}
	if (from_ns < end_ns)
		w->lasted_ns += end_ns - from_ns;
	if (from_ns < w->first_ns)
		w->first_ns = from_ns;
	return w->lasted_ns >= RETAIN_CLOCK_MAX_NS;
}

int retain_clock_read(struct retain_clock *c, struct db *db, uint64_t boot_ns)
{
	static const char sql[] = "SELECT from_ns, to_ns FROM flush WHERE from_ns > 0"
				  " AND to_ns >= from_ns ORDER BY to_ns DESC";
	struct clock_walk w = { .c = c, .first_ns = UINT64_MAX };
	int err;

	*c = (struct retain_clock){ .boot_ns = boot_ns };
	err = sql_each(db_handle(db), take_flush, &w, sql, "");
	return err < 0 ? err : 0;
}

static uint64_t difference(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* The part of the wait for this jump that had passed before it was noticed. */
static uint64_t credit(const struct retain_clock *c, uint64_t real_ns)
{
	const bool continues = real_ns + RETAIN_CLOCK_SLACK_NS >= c->newest_ns &&
			       real_ns < c->newest_ns + RESTART_NS;

	return continues ? c->credit_ns : 0;
}

static void begin_wait(struct retain_clock *c, uint64_t real_ns)
{
	c->credit_ns = credit(c, real_ns);
	c->newest_ns = real_ns;
	c->ahead = true;
	c->ahead_since_ns = c->boot_ns;
	c->offset_ns = real_ns - c->boot_ns;
}

static void end_wait(struct retain_clock *c)
{
	c->ahead = false;
	c->credit_ns = c->wait_ns = 0;
}

uint64_t retain_clock_now(struct retain_clock *c, uint64_t real_ns, uint64_t boot_ns)
{
	uint64_t waited_ns, wait_ns;

	if (!c->believed_ns)
		c->believed_ns = real_ns;
	else
		c->believed_ns += boot_ns - c->boot_ns;
	c->boot_ns = boot_ns;
	if (real_ns <= c->believed_ns + RETAIN_CLOCK_SLACK_NS) {
		end_wait(c);
		if (real_ns > c->believed_ns)
			c->believed_ns = real_ns;
		return real_ns;
	}
	if (!c->ahead ||
	    difference(real_ns - boot_ns, c->offset_ns) > RETAIN_CLOCK_SLACK_NS)
		begin_wait(c, real_ns);
	waited_ns = boot_ns - c->ahead_since_ns + c->credit_ns;
	wait_ns = wait_ns_of(real_ns - c->believed_ns);
	if (waited_ns < wait_ns) {
		c->wait_ns = wait_ns - waited_ns;
		return c->believed_ns;
	}
	end_wait(c);
	c->believed_ns = real_ns;
	return real_ns;
}

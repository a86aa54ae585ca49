/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slice.c - measures how long a write transaction holds the lock
 */
#include "config.h"

#include "db/core/slice.h"

#include "base/times.h"
#include "db/core/sql.h"

#define FULL_NS (5 * NSEC_PER_MSEC)

int slice_begin(struct slice *s)
{
	int err = sql_exec(s->h, "BEGIN IMMEDIATE");

	s->begun_ns = time_mono_ns();
	return err;
}

bool slice_is_full(const struct slice *s)
{
	return time_mono_ns() - s->begun_ns > FULL_NS;
}

int slice_end(struct slice *s, int err)
{
	err = sql_finish(s->h, err);
	s->last_ns = time_mono_ns() - s->begun_ns;
	if (s->last_ns > s->longest_ns)
		s->longest_ns = s->last_ns;
	return err;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_memory.c - the bound of what waits to be stored
 *
 * Counted is what samples, stacks, windows and captures take, from where they are
 * attributed until they are stored; not what empty tallies take. While that can be
 * stored it is when half of --max-memory is in use. While it cannot,
 *
 * I1  nothing is added to the tally above seven eighths: what comes then is lost by
 *     name; the rest is for what goes beyond that before it is looked at again.
 * I2  of names and code as much is captured as there is room for, for they alone can be
 *     had again, or be done without.
 */
#include "config.h"

#include "base/log.h"
#include "daemon/session/session_private.h"

/* What was attributed since the last flush. */
static size_t fresh_bytes(const struct session *s)
{
	const struct sampler *p;
	size_t bytes = 0;

	for_each_sampler (s, p)
		bytes += p->ops->memory(p);
	return bytes > s->storing.empty_bytes ? bytes - s->storing.empty_bytes : 0;
}

void session_begin_memory(struct session *s)
{
	s->storing.empty_bytes = fresh_bytes(s);
}

size_t session_memory(const struct session *s)
{
	return outbox_memory(s->outbox) + fresh_bytes(s);
}

static size_t most_bytes(const struct session *s)
{
	return s->cfg.max_memory - s->cfg.max_memory / 8;
}

size_t session_memory_left(const struct session *s)
{
	const size_t used = session_memory(s), most = most_bytes(s);

	return used < most ? most - used : 0;
}

bool session_is_half_full(const struct session *s)
{
	const struct sampler *p;

	for_each_sampler (s, p) {
		if (p->ops->is_half_full && p->ops->is_half_full(p))
			return true;
	}
	return fresh_bytes(s) > s->cfg.max_memory / 2;
}

/* What was attributed since the last flush becomes a named loss. */
static void drop(struct session *s)
{
	struct sampler *p;

	log_err("session: %llu MiB of samples could not be stored: new samples are "
		"lost",
		(unsigned long long)(s->cfg.max_memory >> 20));
	for_each_sampler (s, p)
		p->ops->drop(p);
}

void session_bound_memory(struct session *s)
{
	struct tally *t = s->attribution.tally;

	if (s->storing.err && !session_memory_left(s) && fresh_bytes(s))
		drop(s);
	t->limit = tally_memory(t) + session_memory_left(s) + 1;
}

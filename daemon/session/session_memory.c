/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_memory.c - limits the memory of data that wait to be stored
 *
 * The memory of samples, stacks, windows and captures counts from their attribution
 * until they are stored; the memory of empty tallies does not count. If half of
 * --max-memory is in use, a flush is due. While storing fails:
 *
 * I1  above seven eighths of --max-memory nothing is added to the tallies, and new
 *     samples are lost as no_space. The last eighth is for data that are added between
 *     two checks of this limit.
 * I2  names and code are captured only as far as there is room, because they can be
 *     captured later or are not essential.
 */
#include "config.h"

#include "base/log.h"
#include "daemon/session/session_private.h"

/* Memory of the data that were attributed since the last flush. */
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

/* Counts the samples since the last flush as lost, and frees them. */
static void drop(struct session *s)
{
	struct sampler *p;

	log_err("session: %llu MiB of samples could not be stored: new samples are "
		"lost",
		(unsigned long long)(session_memory(s) >> 20));
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

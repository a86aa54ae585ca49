/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A reader may see the new step with the old time, because the two are not stored
 * atomically. That is acceptable: they are only shown to people.
 */
#include "config.h"

#include "daemon/os/heartbeat.h"

#include <stddef.h>

#include "base/times.h"

static void set_beat(struct heartbeat *h, const char *doing)
{
	atomic_store_explicit(&h->doing, doing, memory_order_relaxed);
	atomic_store_explicit(&h->since_ns, time_mono_ns(), memory_order_relaxed);
	heartbeat_progress(h);
}

const char *heartbeat_begin(struct heartbeat *h, const char *doing)
{
	const char *before;

	if (!h)
		return NULL;
	before = atomic_load_explicit(&h->doing, memory_order_relaxed);
	set_beat(h, doing);
	return before;
}

void heartbeat_end(struct heartbeat *h, const char *before)
{
	if (h)
		set_beat(h, before);
}

void heartbeat_progress(struct heartbeat *h)
{
	if (h && h->progress)
		h->progress(h->ctx);
}

const char *heartbeat_read(struct heartbeat *h, uint64_t *since_ns)
{
	const char *doing =
		h ? atomic_load_explicit(&h->doing, memory_order_relaxed) : NULL;

	*since_ns = h ? atomic_load_explicit(&h->since_ns, memory_order_relaxed) : 0;
	return doing ? doing : "starting";
}

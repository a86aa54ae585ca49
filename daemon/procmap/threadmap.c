/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * threadmap.c - threads over time, in a hash map by tid
 */
#include "config.h"

#include "daemon/procmap/threadmap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"

static struct thread *thread_of(struct hnode *n)
{
	return container_of(n, struct thread, node);
}

void threadmap_fini(struct threadmap *tm)
{
	struct hnode *n, *next;

	hmap_for_each (&tm->all, n, next)
		free(thread_of(n));
	hmap_fini(&tm->all);
}

/* Returns the thread that has a tid now; NULL if none is known. */
static struct thread *find_current(const struct threadmap *tm, uint32_t tid)
{
	for (struct hnode *n = hmap_first(&tm->all, hash_u64(tid)); n;
	     n = hmap_next(n)) {
		if (thread_of(n)->tid == tid && thread_of(n)->replaced == UINT64_MAX)
			return thread_of(n);
	}
	return NULL;
}

static void set_comm(struct thread *t, const char *comm)
{
	snprintf(t->comm, sizeof(t->comm), "%s", comm);
}

static int add(struct threadmap *tm, const struct thread *new)
{
	struct thread *t;

	if (tm->all.nr >= THREADMAP_MAX) {
		tm->nr_refused++;
		return 0;
	}
	t = malloc(sizeof(*t));
	if (!t)
		return -ENOMEM;
	*t = *new;
	if (hmap_insert(&tm->all, &t->node, hash_u64(t->tid))) {
		free(t);
		return -ENOMEM;
	}
	return 0;
}

void threadmap_process(struct threadmap *tm, uint32_t tgid, uint64_t when)
{
	struct thread *t = find_current(tm, tgid);

	if (!t)
		return;
	t->replaced = when;
	if (t->until > when)
		t->until = when;
}

int threadmap_fork(struct threadmap *tm, uint32_t tid, uint32_t tgid, const char *comm,
		   uint64_t when)
{
	struct thread new = { .tid = tid,
			      .tgid = tgid,
			      .since = when,
			      .until = UINT64_MAX,
			      .replaced = UINT64_MAX,
			      .scan = tm->scan };
	struct thread *known = find_current(tm, tid);

	if (known && known->tgid == tgid && known->since == PROCMAP_ALWAYS) {
		known->since = when; /* a scan found it before its fork was read */
		set_comm(known, comm);
		return 0;
	}
	threadmap_process(tm, tid, when);
	set_comm(&new, comm);
	return add(tm, &new);
}

void threadmap_comm(struct threadmap *tm, uint32_t tid, const char *comm)
{
	struct thread *t = find_current(tm, tid);

	if (t)
		set_comm(t, comm);
}

void threadmap_exit(struct threadmap *tm, uint32_t tid, uint64_t when)
{
	struct thread *t = find_current(tm, tid);

	if (t && t->until > when)
		t->until = when;
}

void threadmap_begin_scan(struct threadmap *tm)
{
	tm->scan++;
}

int threadmap_found(struct threadmap *tm, uint32_t tid, uint32_t tgid, const char *comm)
{
	struct thread *t = find_current(tm, tid);

	if (!t || t->tgid != tgid) {
		int err = threadmap_fork(tm, tid, tgid, comm, PROCMAP_ALWAYS);

		if (err)
			return err;
		t = find_current(tm, tid);
	}
	if (t) {
		t->scan = tm->scan;
		set_comm(t, comm);
	}
	return 0;
}

void threadmap_end_scan(struct threadmap *tm, uint64_t when)
{
	struct hnode *n, *next;

	hmap_for_each (&tm->all, n, next) {
		struct thread *t = thread_of(n);

		if (t->scan != tm->scan && t->since < when && t->until > when)
			t->until = when;
	}
}

int threadmap_find(const struct threadmap *tm, uint32_t tid, uint64_t from_ns,
		   uint64_t to_ns, const struct thread **out)
{
	const struct thread *found = NULL;

	for (struct hnode *n = hmap_first(&tm->all, hash_u64(tid)); n;
	     n = hmap_next(n)) {
		const struct thread *t = thread_of(n);

		if (t->tid != tid || t->since > to_ns || t->replaced <= from_ns)
			continue;
		if (found || t->replaced <= to_ns)
			return -EEXIST;
		found = t;
	}
	if (!found)
		return -ENOENT;
	*out = found;
	return 0;
}

void threadmap_forget(struct threadmap *tm, uint64_t horizon)
{
	struct hnode *n, *next;

	hmap_for_each (&tm->all, n, next) {
		if (thread_of(n)->until >= horizon)
			continue;
		hmap_remove(&tm->all, n);
		free(thread_of(n));
	}
}

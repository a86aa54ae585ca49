/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * threads.c - which process a thread belonged to, and which process ran on a CPU
 *
 * Threads are in a hash map by tid. Each CPU has a ring of its newest switches, in the
 * order of time, which is searched by bisection.
 */
#include "config.h"

#include "daemon/collect/threads.h"

#include <errno.h>
#include <stdlib.h>

#include "abi/entry.h"
#include "base/hash.h"

#define MAX_CPUS      4096
#define NR_REMEMBERED 32768 /* switches per CPU */

struct owner {
	uint32_t tgid;
	uint64_t since;
};

struct thread {
	struct hnode node;
	uint32_t tid;
	struct owner last, before;
};

/* A ring of the newest switches. */
struct cpu {
	struct hnode node;
	uint32_t number;
	uint64_t nr; /* all switches so far, also forgotten ones */
	struct owner ran[NR_REMEMBERED];
};

void threads_fini(struct threads *t)
{
	struct hnode *n, *next;

	hmap_for_each (&t->all, n, next)
		free(container_of(n, struct thread, node));
	hmap_for_each (&t->cpus, n, next)
		free(container_of(n, struct cpu, node));
	hmap_fini(&t->all);
	hmap_fini(&t->cpus);
}

static struct thread *find_thread(const struct threads *t, uint32_t tid)
{
	for (struct hnode *n = hmap_first(&t->all, hash_u64(tid)); n;
	     n = hmap_next(n)) {
		struct thread *thread = container_of(n, struct thread, node);

		if (thread->tid == tid)
			return thread;
	}
	return NULL;
}

int threads_note(struct threads *t, uint32_t tid, uint32_t tgid, uint64_t when)
{
	struct thread *thread = find_thread(t, tid);

	if (tid > CPI_MAX_TGID || tgid > CPI_MAX_TGID)
		return 0; /* there is no such thread */
	if (thread) {
		if (thread->last.tgid != tgid) {
			thread->before = thread->last;
			thread->last = (struct owner){ tgid, when };
		}
		return 0;
	}
	thread = calloc(1, sizeof(*thread));
	if (!thread || hmap_insert(&t->all, &thread->node, hash_u64(tid))) {
		free(thread);
		return -ENOMEM;
	}
	thread->tid = tid;
	thread->last.tgid = tgid; /* no earlier process is known */
	thread->before.tgid = tgid;
	return 0;
}

uint32_t threads_tgid(const struct threads *t, uint32_t tid, uint64_t when)
{
	const struct thread *thread = find_thread(t, tid);

	if (!thread)
		return THREADS_UNKNOWN;
	return thread->last.since <= when ? thread->last.tgid : thread->before.tgid;
}

static struct cpu *find_cpu(const struct threads *t, uint32_t number)
{
	for (struct hnode *n = hmap_first(&t->cpus, hash_u64(number)); n;
	     n = hmap_next(n)) {
		struct cpu *cpu = container_of(n, struct cpu, node);

		if (cpu->number == number)
			return cpu;
	}
	return NULL;
}

static struct cpu *get_cpu(struct threads *t, uint32_t number)
{
	struct cpu *cpu = find_cpu(t, number);

	if (cpu)
		return cpu;
	cpu = calloc(1, sizeof(*cpu));
	if (!cpu || hmap_insert(&t->cpus, &cpu->node, hash_u64(number))) {
		free(cpu);
		return NULL;
	}
	cpu->number = number;
	return cpu;
}

int threads_switch(struct threads *t, uint32_t number, uint32_t tgid, uint64_t when)
{
	struct cpu *cpu;

	if (number >= MAX_CPUS)
		return 0; /* there is no such CPU */
	cpu = get_cpu(t, number);
	if (!cpu)
		return -ENOMEM;
	cpu->ran[cpu->nr++ % NR_REMEMBERED] = (struct owner){ tgid, when };
	return 0;
}

uint32_t threads_running(const struct threads *t, uint32_t number, uint64_t when)
{
	const struct cpu *cpu = find_cpu(t, number);
	uint64_t first, low, high;

	if (!cpu)
		return THREADS_UNKNOWN;
	first = low = cpu->nr < NR_REMEMBERED ? 0 : cpu->nr - NR_REMEMBERED;
	high = cpu->nr;
	while (low < high) { /* find the first switch after `when` */
		uint64_t middle = low + (high - low) / 2;

		if (cpu->ran[middle % NR_REMEMBERED].since <= when)
			low = middle + 1;
		else
			high = middle;
	}
	return low > first ? cpu->ran[(low - 1) % NR_REMEMBERED].tgid : THREADS_UNKNOWN;
}

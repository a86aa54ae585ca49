/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spelive.c - samples Arm's SPE on all CPUs
 *
 * Each CPU has an auxarea. The process of a thread is asked for once in each drain.
 */
#include "config.h"

#include "daemon/collect/spelive.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/times.h"
#include "daemon/collect/threads.h"
#include "daemon/os/perftarget.h"

struct spelive {
	struct spelive_config cfg;
	struct auxarea *area; /* by CPU */
	int nr;
	/* processes of threads, found since the last drain began */
	struct threads threads;
};

struct spelive *spelive_new(const struct spelive_config *cfg)
{
	struct spelive *s = calloc(1, sizeof(*s));

	if (s)
		s->cfg = *cfg;
	return s;
}

void spelive_free(struct spelive *s)
{
	if (!s)
		return;
	for (int i = 0; i < s->nr; i++)
		auxarea_close(&s->area[i]);
	free(s->area);
	threads_fini(&s->threads);
	free(s);
}

int spelive_opened(struct spelive *s, int cpu, int fd)
{
	struct auxarea *grown;

	if (cpu >= s->nr) {
		grown = reallocarray(s->area, (size_t)cpu + 1, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		memset(grown + s->nr, 0, (size_t)(cpu + 1 - s->nr) * sizeof(*grown));
		s->area = grown;
		s->nr = cpu + 1;
	}
	if (s->area[cpu].ring.meta)
		return -EBUSY; /* the CPU has an area already */
	return auxarea_open(&s->area[cpu], fd, cpu, time_mono_ns());
}

void spelive_closing(struct spelive *s, int cpu)
{
	if (cpu < s->nr)
		auxarea_close(&s->area[cpu]);
}

int spelive_event(const struct spelive *s)
{
	return s->cfg.event;
}

/*
 * If the event follows a process, the kernel writes a PERF_RECORD_AUX whenever the
 * process leaves the CPU, so no flush is needed.
 */
void spelive_snapshot(struct spelive *s, bool running)
{
	for (int i = 0; i < s->nr; i++) {
		if (s->area[i].ring.meta)
			auxarea_snapshot(&s->area[i], running && !s->cfg.follows_task);
	}
}

/* Runs in the timed child's worker: reads the process of a running thread. */
static int read_tgid(struct timed_child_job *job)
{
	const uint32_t tid = *(const uint32_t *)job->question;
	const pid_t process = perftarget_process((pid_t)tid);
	const uint32_t tgid = process ? (uint32_t)process : THREADS_UNKNOWN;

	buf_put(&job->answer, &tgid, sizeof(tgid));
	return 0;
}

/* Returns the process of a running thread; THREADS_UNKNOWN if it has ended. */
static uint32_t ask_tgid(const struct spelive *s, uint32_t tid)
{
	const struct timed_child_question q = {
		.fn = read_tgid, .data = &tid, .size = sizeof(tid), .tgid = (pid_t)tid
	};
	uint32_t tgid;

	return timed_child_ask_for(s->cfg.timed_child, &q, &tgid, sizeof(tgid))
		       ? THREADS_UNKNOWN
		       : tgid;
}

/*
 * Returns the process of a thread. If the thread has ended, assumes that it was the
 * main thread, whose tid is the tgid.
 */
static uint32_t tgid_of(struct spelive *s, uint32_t tid)
{
	uint32_t tgid = threads_tgid(&s->threads, tid, 0);

	if (!tid || tgid != THREADS_UNKNOWN)
		return tid ? tgid : 0;
	tgid = ask_tgid(s, tid);
	if (tgid == THREADS_UNKNOWN)
		tgid = tid;
	/* on failure it is only asked for again */
	threads_note(&s->threads, tid, tgid, 0);
	return tgid;
}

enum cpi_outcome spelive_outcome(const struct hw_record *hw)
{
	if (!hw_is(hw, HW_BRANCH) || !hw_is(hw, HW_CONDITIONAL) ||
	    !hw_knows(hw, HW_TAKEN))
		return CPI_OUTCOME_NONE;
	return hw_is(hw, HW_TAKEN) ? CPI_OUTCOME_TAKEN : CPI_OUTCOME_NOT_TAKEN;
}

static void take_sample(void *ctx, const struct auxarea_sample *sample)
{
	struct spelive *s = ctx;
	const struct hw_record *hw = sample->hw;
	uint32_t tgid = s->cfg.follows_task ? sample->pid : CPI_MAX_TGID;
	struct cpi_entry e;

	if (hw_has(hw, HW_CONTEXT))
		tgid = tgid_of(s, (uint32_t)hw->value[HW_CONTEXT]);
	if (tgid > CPI_MAX_TGID)
		tgid = CPI_MAX_TGID;
	e.word0 = cpi_entry_word0(hw->value[HW_PC], s->cfg.event, spelive_outcome(hw));
	e.word1 = cpi_entry_who(tgid, 0);
	s->cfg.take(s->cfg.ctx, &e, hw, sample->from_ns);
}

static void take_lost(void *ctx, enum loss loss, uint64_t n)
{
	const struct spelive *s = ctx;

	s->cfg.lost(s->cfg.ctx, loss, n);
}

void spelive_drain(struct spelive *s)
{
	const struct auxarea_owner owner = { take_sample, take_lost, s };

	threads_fini(&s->threads);
	for (int i = 0; i < s->nr; i++) {
		if (s->area[i].ring.meta)
			auxarea_drain(&s->area[i], &owner);
	}
}

uint64_t spelive_progress(const struct spelive *s, int cpu)
{
	return cpu < s->nr && s->area[cpu].ring.meta ? auxarea_progress(&s->area[cpu])
						     : 0;
}

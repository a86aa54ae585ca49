/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_status.c - writes a session's status; cpid(8) lists the names
 */
#include "config.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/times.h"
#include "daemon/session/session_private.h"

static double seconds(uint64_t ns)
{
	return (double)ns / NSEC_PER_SEC;
}

static uint64_t time_left(uint64_t end_ns, uint64_t now_ns)
{
	return end_ns > now_ns ? end_ns - now_ns : 0;
}

/* The time of the next store, which may be an epoch's end. */
static uint64_t next_store_ns(struct session *s)
{
	const uint64_t flush_ns = time_left(s->times.next_flush_ns, session_now(s));
	const uint64_t end_ns =
		time_left(s->times.epoch_end_real_ns, wallclock_now(&s->wall));

	return flush_ns < end_ns ? flush_ns : end_ns;
}

static void put_database(struct session *s, struct buf *out)
{
	uint64_t file = 0, wal = 0;
	const struct flush_times *t = &s->storing.times;
	char text[TIME_TEXT_SIZE];

	db_size(s->db, &file, &wal);
	buf_printf(out, "db %s\n", s->cfg.db_path);
	buf_printf(out, "db_path %s\n", db_path(s->db));
	buf_printf(out, "db_bytes %llu\n", (unsigned long long)(file + wal));
	if (s->storing.last_real_ns)
		buf_printf(out, "last_flush %s\n",
			   time_format(s->storing.last_real_ns, text));
	if (s->storing.last_real_ns)
		buf_printf(out, "last_flush_unix_s %.3f\n",
			   seconds(s->storing.last_real_ns));
	if (store_last_gap_ns(s->store))
		buf_printf(out, "last_gap_unix_s %.3f\n",
			   seconds(store_last_gap_ns(s->store)));
	buf_printf(out, "next_flush_s %.1f\n", seconds(next_store_ns(s)));
	buf_printf(out, "flushes %llu\n", (unsigned long long)t->nr);
	buf_printf(out, "flush_last_s %.6f\n", seconds(t->last_ns));
	buf_printf(out, "flush_max_s %.6f\n", seconds(t->max_ns));
	buf_printf(out, "flush_sum_s %.6f\n", seconds(t->sum_ns));
	buf_printf(out, "store_failing %d\n", session_cannot_store(s));
	if (session_cannot_store(s))
		buf_printf(out, "store_error %s\n", err_str(s->storing.err));
	if (s->storing.blocked_by)
		buf_printf(out, "store_blocked_by %d\n", (int)s->storing.blocked_by);
	session_mend_status(s, out);
}

/* Writes the measured cost of sampling. */
static void put_cost(const struct session *s, struct buf *out)
{
	const struct session_cost *c = &s->cost;

	buf_printf(out, "rate_hz %.1f\n", s->events.hz);
	buf_printf(out, "rate_fixed %d\n", s->cfg.hz > 0);
	buf_printf(out, "rate_changes %llu\n", (unsigned long long)c->nr_changes);
	buf_printf(out, "budget_percent %g\n", s->cfg.budget * 100);
	buf_printf(out, "budget_checks %llu\n", (unsigned long long)c->nr_checks);
	buf_printf(out, "budget_exceeded %llu\n", (unsigned long long)c->nr_exceeded);
	if (c->nr_checks && s->events.interrupt_ns > 0) {
		buf_printf(out, "cost_percent %.4f\n", budget_total(&c->now) * 100);
		buf_printf(out, "cost_samples_percent %.4f\n",
			   (budget_total(&c->now) - c->now.daemon - c->work) * 100);
		buf_printf(out, "cost_windows_percent %.4f\n", c->now.windows * 100);
	}
	if (c->nr_checks) {
		buf_printf(out, "cost_daemon_percent %.4f\n",
			   (c->now.daemon + c->work) * 100);
		buf_printf(out, "cost_mappings_percent %.4f\n", c->mappings * 100);
		buf_printf(out, "cost_uncounted_percent %.4f\n", c->uncounted * 100);
	}
	if (s->events.interrupt_ns > 0 && c->daemon_ns > 0)
		buf_printf(out, "sample_cost_ns %.0f\n",
			   s->events.interrupt_ns + c->daemon_ns);
	if (s->events.interrupt_ns > 0)
		buf_printf(out, "interrupt_cost_ns %.0f\n", s->events.interrupt_ns);
	if (c->daemon_ns > 0)
		buf_printf(out, "daemon_cost_ns %.0f\n", c->daemon_ns);
}

/* Writes figures of the whole process. */
static void put_process(struct buf *out)
{
	struct buf text = { 0 };
	struct rusage use;
	unsigned long long size, resident;

	buf_printf(out, "cpu_s %.3f\n", seconds(session_cpu_ns()));
	if (!getrusage(RUSAGE_SELF, &use))
		buf_printf(out, "wakeups %ld\n", use.ru_nvcsw);
	if (!file_read_all(AT_FDCWD, "/proc/self/statm", 256, &text) &&
	    sscanf(buf_str(&text), "%llu %llu", &size, &resident) == 2)
		buf_printf(out, "rss_bytes %llu\n",
			   resident * (unsigned long long)sysconf(_SC_PAGESIZE));
	buf_fini(&text);
}

/* Returns the sampler with these ops; NULL if it is not open. */
static struct sampler *find_sampler(const struct session *s,
				    const struct sampler_ops *ops)
{
	struct sampler *p;

	for_each_sampler (s, p) {
		if (p->ops == ops)
			return p;
	}
	return NULL;
}

/* Writes the status of the samplers; "NAME off" for those that are not open. */
static void put_samplers(const struct session *s, struct buf *out)
{
	for (int i = 0; i < NR_SAMPLERS; i++) {
		struct sampler *p = find_sampler(s, session_samplers[i]);

		if (p)
			p->ops->status(p, out);
		else
			buf_printf(out, "%s off\n", session_samplers[i]->name);
	}
}

void session_status(struct session *s, struct buf *out)
{
	buf_printf(out, "state %s\n",
		   session_cannot_store(s) ? "cannot store" : "sampling");
	buf_printf(out, "uptime_s %llu\n",
		   (unsigned long long)((session_now(s) - s->times.begun_ns) /
					NSEC_PER_SEC));
	put_database(s, out);
	if (s->retention)
		retention_status(s->retention, out);
	buf_printf(out, "collector %s\n", s->events.ops->name);
	put_cost(s, out);
	buf_printf(out, "cpus %d\n", s->cpus.nr);
	if (s->cpus_missing)
		buf_printf(out, "cpus_error %s\n", err_str(s->cpus_missing));
	put_samplers(s, out);
	buf_printf(out, "pending_samples %llu\n",
		   (unsigned long long)session_nr_pending(s));
	buf_printf(out, "mapping_records_lost %llu\n",
		   (unsigned long long)sideband_nr_lost(s->sideband));
	buf_printf(out, "mapping_records_skipped %llu\n",
		   (unsigned long long)procmap_nr_skipped(s->procmap));
	buf_printf(out, "processes_incomplete %zu\n",
		   procmap_nr_incomplete(s->procmap));
	buf_printf(out, "processes_rescanned %llu\n",
		   (unsigned long long)s->rescan.nr_read);
	if (s->announce)
		announce_status(s->announce, out);
	timed_child_status(s->timed_child, out);
	if (s->capture)
		capture_status(s->capture, out);
	else
		buf_printf(out, "capture off\n");
	buf_printf(out, "processes %zu\n", procmap_nr_processes(s->procmap));
	buf_printf(out, "mappings %zu\n", procmap_nr_ranges(s->procmap));
	buf_printf(out, "images %zu\n", images_nr(s->images));
	buf_printf(out, "memory_bytes %zu\n", session_memory(s));
	buf_printf(out, "memory_limit_bytes %llu\n",
		   (unsigned long long)s->cfg.max_memory);
	put_process(out);
}

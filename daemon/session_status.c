/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_status.c - what a session says of itself; cpid(8) lists the names
 */
#include "config.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/times.h"
#include "daemon/session_private.h"

static uint64_t nr_lost(const struct session *s, int e, enum loss l,
			const struct collector_counts *now)
{
	uint64_t n = s->lost[e][l] + s->attribution.tally->loss[e][l];

	if (l == SAMPLE_RING_LOST)
		n += now->ring_lost - s->ring_lost[e];
	else if (l == SAMPLE_TABLE_LOST)
		n += now->table_lost - s->table_lost[e];
	return n;
}

/* Of all events: a name comes once. */
static void put_losses(const struct session *s, struct buf *out)
{
	struct collector_counts now[SESSION_MAX_EVENTS];

	for (int e = 0; e < s->nr_events; e++)
		s->ops->counts(s->collector, e, &now[e]);
	for (int l = 0; l < NR_LOSSES; l++) {
		uint64_t n = 0;

		for (int e = 0; e < s->nr_events; e++)
			n += nr_lost(s, e, l, &now[e]);
		if (n)
			buf_printf(out, "%s.%s %llu\n",
				   loss_class_of(l) == LOSS_UNKNOWN ? "unknown"
								    : "lost",
				   loss_name(l), (unsigned long long)n);
	}
}

/* What the handler takes, while the kernel is asked to keep count of it. */
static void put_handler(const struct session *s, int e, struct buf *out)
{
	uint64_t nr, ns;

	if (!s->ops->handler || s->ops->handler(s->collector, e, &nr, &ns) || !nr)
		return;
	buf_printf(out, "handler_runs.%s %llu\n", s->events[e].name,
		   (unsigned long long)nr);
	buf_printf(out, "handler_ns.%s %.1f\n", s->events[e].name,
		   (double)ns / (double)nr);
}

static void put_stream(struct session *s, int e, struct buf *out)
{
	struct collector_counts now;
	const char *name = s->events[e].name;

	s->ops->counts(s->collector, e, &now);
	buf_printf(out, "event.%d %s\n", e, name);
	buf_printf(out, "period.%s %llu\n", name, (unsigned long long)s->periods[e]);
	buf_printf(out, "received.%s %llu\n", name, (unsigned long long)now.received);
	buf_printf(out, "stored.%s %llu\n", name,
		   (unsigned long long)(s->stored[e] -
					outbox_nr_samples(s->outbox, e)));
	buf_printf(out, "not_delivered.%s %lld\n", name,
		   (long long)(s->not_delivered[e] +
			       session_not_delivered(s, e, &now)));
	if (now.elsewhere)
		buf_printf(out, "elsewhere.%s %llu\n", name,
			   (unsigned long long)now.elsewhere);
	put_handler(s, e, out);
	buf_printf(out, "idle.%s %llu\n", name,
		   (unsigned long long)(s->idle[e] +
					session_nr_idle(s, s->attribution.tally, e)));
}

static double seconds(uint64_t ns)
{
	return (double)ns / NSEC_PER_SEC;
}

static void put_database(struct session *s, struct buf *out)
{
	uint64_t file = 0, wal = 0;
	const struct flush_times *t = &s->flush_times;
	char text[TIME_TEXT_SIZE];

	db_size(s->db, &file, &wal);
	buf_printf(out, "db %s\n", s->cfg.db_path);
	buf_printf(out, "db_bytes %llu\n", (unsigned long long)(file + wal));
	if (s->last_flush_real_ns)
		buf_printf(out, "last_flush %s\n",
			   time_format(s->last_flush_real_ns, text));
	if (s->last_flush_real_ns)
		buf_printf(out, "last_flush_unix_s %.3f\n",
			   seconds(s->last_flush_real_ns));
	buf_printf(out, "flushes %llu\n", (unsigned long long)t->nr);
	buf_printf(out, "flush_last_s %.6f\n", seconds(t->last_ns));
	buf_printf(out, "flush_max_s %.6f\n", seconds(t->max_ns));
	buf_printf(out, "flush_sum_s %.6f\n", seconds(t->sum_ns));
	if (s->store_err)
		buf_printf(out, "store_error %s\n", err_str(s->store_err));
}

/* What sampling costs, as far as it was measured. */
static void put_cost(const struct session *s, struct buf *out)
{
	const struct session_cost *c = &s->cost;

	buf_printf(out, "rate_hz %.1f\n", s->hz);
	buf_printf(out, "rate_fixed %d\n", s->cfg.hz > 0);
	buf_printf(out, "rate_changes %llu\n", (unsigned long long)c->nr_changes);
	buf_printf(out, "budget_percent %g\n", s->cfg.budget * 100);
	buf_printf(out, "budget_checks %llu\n", (unsigned long long)c->nr_checks);
	buf_printf(out, "budget_exceeded %llu\n", (unsigned long long)c->nr_exceeded);
	if (c->nr_checks && s->interrupt_ns > 0) {
		buf_printf(out, "cost_percent %.4f\n", budget_total(&c->now) * 100);
		buf_printf(out, "cost_samples_percent %.4f\n",
			   (c->now.by_rate + c->now.fixed) * 100);
	}
	if (c->nr_checks)
		buf_printf(out, "cost_daemon_percent %.4f\n", c->now.daemon * 100);
	if (s->interrupt_ns > 0 && c->daemon_ns > 0)
		buf_printf(out, "sample_cost_ns %.0f\n",
			   s->interrupt_ns + c->daemon_ns);
	if (s->interrupt_ns > 0)
		buf_printf(out, "interrupt_cost_ns %.0f\n", s->interrupt_ns);
	if (c->daemon_ns > 0)
		buf_printf(out, "daemon_cost_ns %.0f\n", c->daemon_ns);
}

/* Of the process, the session's or not. */
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

void session_status(struct session *s, struct buf *out)
{
	const struct tally *t = s->attribution.tally;

	buf_printf(out, "state %s\n", s->store_err ? "cannot store" : "sampling");
	buf_printf(out, "uptime_s %llu\n",
		   (unsigned long long)((time_mono_ns() - s->begun_ns) / NSEC_PER_SEC));
	put_database(s, out);
	if (s->keeper)
		keeper_status(s->keeper, out);
	buf_printf(out, "collector %s\n", s->ops->name);
	put_cost(s, out);
	buf_printf(out, "cpus %d\n", s->cpus.nr);
	for (int e = 0; e < s->nr_events; e++)
		put_stream(s, e, out);
	put_losses(s, out);
	session_stacks_status(s, out);
	session_windows_status(s, out);
	session_anchors_status(s, out);
	buf_printf(out, "pending_samples %llu\n",
		   (unsigned long long)session_nr_pending(s));
	buf_printf(out, "outcome_unreadable %llu\n",
		   (unsigned long long)(s->unreadable + t->unreadable));
	if (s->cut_stacks + t->cut_stacks)
		buf_printf(out, "branch_stacks_cut %llu\n",
			   (unsigned long long)(s->cut_stacks + t->cut_stacks));
	if (s->cfg.by)
		buf_printf(out, "contexts_other %llu\n",
			   (unsigned long long)(s->crowded + t->crowded));
	buf_printf(out, "mapping_records_lost %llu\n",
		   (unsigned long long)sideband_nr_lost(s->sideband));
	if (s->announce)
		announce_status(s->announce, out);
	if (s->capture)
		capture_status(s->capture, out);
	else
		buf_printf(out, "capture off\n");
	buf_printf(out, "processes %zu\n", procmap_nr_processes(s->procmap));
	buf_printf(out, "mappings %zu\n", procmap_nr_ranges(s->procmap));
	buf_printf(out, "images %zu\n", images_nr(s->images));
	buf_printf(out, "memory_bytes %zu\n",
		   tally_memory(t) + outbox_memory(s->outbox));
	buf_printf(out, "memory_limit_bytes %llu\n",
		   (unsigned long long)s->cfg.max_memory);
	put_process(out);
}
